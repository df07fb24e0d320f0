import AdapterKit
import BrazeAdapter
import Foundation
import StubServer
import Testing

extension FaultStage {
    private static let key = "a-rest-key-that-nobody-may-see"

    /// Starts the server that the worker asks about the users of `braze-ios`, and configures the shop for it.
    static func startVendor(for shop: borrowing Shop) async throws -> StubServer {
        let stub = try #require(
            try BrazeAdapter(settings: .init()).stub(StubSetting(authorization: "Bearer \(key)")))
        let server = try await StubServer.start(
            stub, now: { UnixTime(microseconds: Int64(Date.now.timeIntervalSince1970 * 1e6)) })
        let secret = shop.folder.appending(path: "braze.key")
        try #require(
            FileManager.default.createFile(
                atPath: secret.path, contents: Data(key.utf8), attributes: [.posixPermissions: 0o600]))
        try shop.configure(
            "    key: braze-ios\n",
            "    key: braze-ios\n    lookup: { mode: verify, endpoint: \"\(server.url)\", key_file: braze.key, timeout: 1s }\n"
        )
        return server
    }
}

extension Fault {
    /// Produces reports of `count` users that the vendor was not asked about yet.
    private static func report(_ count: Int, to stage: FaultStage) async throws {
        try await stage.shop.produce(
            stage.newUsers(count).map { rawReport("braze-ios", #"{"errorCode":22,"userId":"user-\#($0)"}"#) })
    }

    private static func broken(
        _ name: String, _ result: String, alert: FaultAlert, line: String = "vendor.unavailable",
        end: String = "vendor.available", _ misbehaviour: Misbehaviour
    ) -> Fault {
        Fault(
            name: name, scene: .partners,
            make: { stage in
                try stage.vendor.misbehaviour = misbehaviour
                try await report(8, to: stage)
            },
            readiness: .shows(#""lookups":"braze-ios: "#), firstLine: .logs(line), lastLine: .logs(end),
            metric: FaultMetric("remint_lookup_requests_total", #"result="\#(result)""#, bound: .atLeast(1)),
            alert: alert, status: .cannotSee("the command asks brokers and key rings, and no vendor"),
            page: .shows(#""lookups":"braze-ios: "#),
            end: .fixed { stage in
                try stage.vendor.misbehaviour = .none
                try await report(4, to: stage)
            })
    }

    private static let leftAlone = FaultAlert("RemintVendorLeftAlone")

    static let vendors: [Fault] = [
        broken("a vendor's API is down", "unavailable", alert: leftAlone, .status(503)).inEveryRun,
        broken("a vendor's API does not answer in time", "unavailable", alert: leftAlone, .silence),
        broken("a vendor's API resets connections", "unavailable", alert: leftAlone, .reset),
        broken("a vendor's API answers with another object", "unreadable", alert: leftAlone, .wrongJSON),
        broken("a vendor's API answers with a web page", "unreadable", alert: leftAlone, .webPage),
        broken(
            "a vendor refuses the credentials", "misconfigured", alert: FaultAlert("RemintLookupsRefused"), .status(401)
        ),
        broken(
            "a vendor throttles", "throttled", alert: FaultAlert("RemintVendorThrottles", isRepeated: true),
            line: "vendor.throttling", end: "vendor.throttling-over", .throttled(retryAfter: nil)),
    ]
}
