import Foundation
import Testing

extension Fault {
    private static let ring = "braze-ios"

    private static func folder(_ stage: FaultStage) -> URL { stage.shop.folder.appending(path: "keys/\(ring)") }

    /// Replaces the listing of the ring at once, as an editor does.
    private static func write(_ text: String, _ stage: FaultStage) throws {
        let file = folder(stage).appending(path: "keyring.json")
        let new = folder(stage).appending(path: "keyring.new")
        try #require(
            FileManager.default.createFile(
                atPath: new.path, contents: Data(text.utf8), attributes: [.posixPermissions: 0o600]))
        try #require(rename(new.path, file.path) == 0)
    }

    private static func listing(_ stage: FaultStage) throws -> String {
        try String(contentsOf: folder(stage).appending(path: "keyring.json"), encoding: .utf8)
    }

    /// Changes the listing, and keeps the good one for the fix.
    private static func change(_ stage: FaultStage, _ change: (String) throws -> String) throws {
        let text = try listing(stage)
        try Data(text.utf8).write(to: stage.shop.folder.appending(path: "good.json"))
        try write(change(text), stage)
    }

    private static let restore: Action = { stage in
        try write(String(contentsOf: stage.shop.folder.appending(path: "good.json"), encoding: .utf8), stage)
    }

    private static func time(in seconds: Double) -> String {
        Date.now.addingTimeInterval(seconds).formatted(.iso8601)
    }

    private static let notReady = FaultMetric("remint_ready", #"dependency="keys""#, bound: .equal(0))
    private static let notReadyAlert = FaultAlert("RemintNotReady", #"dependency="keys""#)

    private static func unreadable(
        _ name: String, _ words: String, make: @escaping Action, status: String? = nil, page: String? = nil
    ) -> Fault {
        Fault(
            name: name, make: make, readiness: .shows("the key ring \(ring) cannot be used"),
            firstLine: .logs("key-ring.refused"),
            lastLine: .logs("key-ring.changed"), metric: notReady, alert: notReadyAlert,
            status: .shows(status ?? words), page: .shows(page ?? words),
            end: .fixed(restore))
    }

    /// Adds `retire_after` to the active version.
    private static func retire(in seconds: Double) -> Action {
        { stage in
            try change(stage) { text in
                text.replacing("\"algorithm\"", with: "\"retire_after\":\"\(time(in: seconds))\",\"algorithm\"")
            }
        }
    }

    static let keys: [Fault] = [
        unreadable(
            "the listing of a key ring is garbage", "not JSON", make: { try change($0) { _ in "{ garbage" } }
        ).inEveryRun,
        unreadable(
            "the listing of a key ring is missing", "keyring.json: cannot be opened",
            make: { stage in
                try change(stage) { $0 }
                try FileManager.default.removeItem(at: folder(stage).appending(path: "keyring.json"))
            }),
        unreadable(
            "a key ring has no active version", "has 0 active versions",
            make: { try change($0) { $0.replacing(#""active""#, with: #""passive""#) } }),
        unreadable(
            "the file of the key that signs is missing", "\(ring)-",
            make: { stage in
                try change(stage) { $0.replacing(".pem\"", with: "-gone.pem\"") }
            }, status: "the key of \(ring)-", page: "-gone.pem cannot be opened"),
        unreadable(
            "the key that signs has another algorithm", "ES256",
            make: { stage in
                let other = stage.shop.folder.appending(path: "keys/onesignal-shop")
                for file in try FileManager.default.contentsOfDirectory(atPath: other.path)
                where file.hasSuffix(".pem") {
                    try FileManager.default.copyItem(
                        at: other.appending(path: file), to: folder(stage).appending(path: file))
                }
                let text = try String(contentsOf: other.appending(path: "keyring.json"), encoding: .utf8)
                try change(stage) { _ in text }
            }, status: "the app \(ring) needs RS256", page: "is for ES256, and Braze takes RS256 alone"),
        Fault(
            name: "the key that signs retires within a day", make: retire(in: 43_200),
            readiness: .shows("retires at"), firstLine: .logs("key.retiring"), lastLine: .logs("key-ring.changed"),
            metric: FaultMetric("remint_degraded", #"part="keys""#, bound: .equal(1)),
            alert: FaultAlert("RemintKeyRetiresIn1Day"), status: .shows("retires at"), page: .shows("retires at"),
            end: .fixed(restore)),
        Fault(
            name: "the key that signs is past its end", make: retire(in: -60),
            readiness: .shows("the app \(ring) cannot sign"), firstLine: .logs("app.not-signing"),
            lastLine: .logs("app.signing"), metric: notReady, alert: notReadyAlert,
            status: .shows("and signs no token"), page: .shows("the app \(ring) cannot sign"), end: .fixed(restore)
        ).inEveryRun,
    ]
}
