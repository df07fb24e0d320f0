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
        _ name: String, _ words: String, isSigning: Bool = true, make: @escaping Action, fix: @escaping Action = restore
    ) -> Fault {
        Fault(
            name: name, make: make, readiness: .shows("the key ring \(ring) cannot be used"),
            firstLine: .shows(
                isSigning
                    ? "a key ring changed and cannot be used; its keys of before go on signing"
                    : "a key ring changed and cannot be used; none of its keys signs"),
            lastLine: .shows("a key ring changed  "), metric: notReady, alert: notReadyAlert, status: .shows(words),
            page: .shows(words), fix: fix)
    }

    static let keys: [Fault] = [
        unreadable(
            "the listing of a key ring is garbage", "keyring.json", make: { try change($0) { _ in "{ garbage" } }),
        unreadable(
            "the listing of a key ring is missing", "keyring.json",
            make: { stage in
                try change(stage) { $0 }
                try FileManager.default.removeItem(at: folder(stage).appending(path: "keyring.json"))
            }),
        Fault(
            name: "a key ring has no active version",
            make: { try change($0) { $0.replacing(#""active""#, with: #""passive""#) } },
            readiness: .shows("the app \(ring) cannot sign"), firstLine: .shows("an app cannot sign; its events wait"),
            lastLine: .shows("an app can sign again"), metric: notReady, alert: notReadyAlert,
            status: .shows("passive"), page: .shows("the app \(ring) cannot sign"), fix: restore),
        Fault(
            name: "the key that signs retires within a day",
            make: { stage in
                try change(stage) {
                    $0.replacing("\"algorithm\"", with: "\"retire_after\":\"\(time(in: 43_200))\",\"algorithm\"")
                }
            },
            readiness: .shows("the active version"), firstLine: .shows("a key is near its end or past it; replace it"),
            lastLine: .shows("a key ring changed"),
            metric: FaultMetric("remint_degraded", #"part="keys""#, bound: .equal(1)),
            alert: FaultAlert("RemintKeyRetiresIn1Day"), status: .shows("replace it: remint rotate prepare"),
            page: .shows("replace it: remint rotate prepare"), fix: restore),
        Fault(
            name: "the key that signs is past its end",
            make: { stage in
                try change(stage) {
                    $0.replacing("\"algorithm\"", with: "\"retire_after\":\"\(time(in: -60))\",\"algorithm\"")
                }
            },
            readiness: .shows("the app \(ring) cannot sign"), firstLine: .shows("an app cannot sign; its events wait"),
            lastLine: .shows("an app can sign again"), metric: notReady, alert: notReadyAlert,
            status: .shows("and signs no token"), page: .shows("the app \(ring) cannot sign"), fix: restore),
    ]
}
