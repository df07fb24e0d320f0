import AdapterKit
import BrazeAdapter
import Foundation
import StubServer
import Testing

extension Fault {
    private static let key = "a-rest-key-that-nobody-may-see"

    /// Lets the worker ask a server about the users of `braze-ios`.
    private static func ask(_ stage: FaultStage) async throws {
        let stub = try #require(
            try BrazeAdapter(settings: .init()).stub(StubSetting(authorization: "Bearer \(key)")))
        let server = try await StubServer.start(
            stub, now: { UnixTime(microseconds: Int64(Date.now.timeIntervalSince1970 * 1e6)) })
        stage.keep(server, isVendor: true)
        let secret = stage.shop.folder.appending(path: "braze.key")
        try #require(
            FileManager.default.createFile(
                atPath: secret.path, contents: Data(key.utf8), attributes: [.posixPermissions: 0o600]))
        try stage.shop.configure(
            "    key: braze-ios\n",
            "    key: braze-ios\n    lookup: { mode: verify, endpoint: \"\(server.url)\", key_file: braze.key, timeout: 1s }\n"
        )
    }

    private static func report(_ users: ClosedRange<Int>, to stage: FaultStage) async throws {
        try await stage.shop.produce(
            users.map { rawReport("braze-ios", #"{"errorCode":22,"userId":"user-\#($0)"}"#) })
    }

    private static let opened = "a vendor's REST API does not answer as it should; its circuit is open, and events wait"

    private static func broken(
        _ name: String, _ result: String, alert: FaultAlert, line: String = opened,
        end: String = "the vendor's REST API answers again", _ misbehaviour: Misbehaviour
    ) -> Fault {
        Fault(
            name: name, prepare: ask,
            make: { stage in
                try stage.vendor.misbehaviour = misbehaviour
                try await report(1...8, to: stage)
            },
            readiness: .shows(#""lookups":"braze-ios: "#), firstLine: .shows(line), lastLine: .shows(end),
            metric: FaultMetric("remint_lookup_requests_total", #"result="\#(result)""#, bound: .atLeast(1)),
            alert: alert, status: .cannotSee("the command asks brokers and key rings, and no vendor"),
            page: .shows(#""lookups":"braze-ios: "#),
            fix: { stage in
                try stage.vendor.misbehaviour = .none
                try await report(9...12, to: stage)
            })
    }

    private static let leftAlone = FaultAlert("RemintVendorLeftAlone")

    static let vendors: [Fault] = [
        broken("a vendor's API is down", "unavailable", alert: leftAlone, .status(503)),
        broken("a vendor's API does not answer in time", "unavailable", alert: leftAlone, .silence),
        broken("a vendor's API resets connections", "unavailable", alert: leftAlone, .reset),
        broken("a vendor's API answers with another object", "unreadable", alert: leftAlone, .wrongJSON),
        broken("a vendor's API answers with a web page", "unreadable", alert: leftAlone, .webPage),
        broken(
            "a vendor refuses the credentials", "misconfigured", alert: FaultAlert("RemintLookupsRefused"), .status(401)
        ),
        broken(
            "a vendor throttles", "throttled", alert: FaultAlert("RemintVendorThrottles", isRepeated: true),
            line: "a vendor's REST API refuses every request for its rate; events wait",
            end: "the vendor's REST API accepts requests again", .throttled(retryAfter: nil)),
    ]
}
