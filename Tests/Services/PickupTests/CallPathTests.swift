import Access
import AdapterKit
import Logging
import Serving
import Testing
import WorkerConfiguration

@testable import Pickup

/// The URLs of calls, by the gateway's address and the calls' paths.
@Suite struct CallPathTests {
    private static func base(
        _ host: String, public url: String? = nil, isEncrypted: Bool = false
    ) throws -> String {
        var pickup = Configuration.Pickup()
        (pickup.host, pickup.port, pickup.publicURL) = (host, 8080, url)
        if isEncrypted { pickup.certificate = ("a", "b") }
        return try pickup.baseURL(of: pickup)
    }

    @Test(arguments: [
        ("127.0.0.1", "http://127.0.0.1:8080"), ("::", "http://[::]:8080"), ("fe80::1%eth0", "http://[fe80::1]:8080"),
        ("gateway", "http://gateway:8080"),
    ])
    func `without a public URL, calls are at the address that the gateway listens at`(host: String, url: String)
        throws
    {
        #expect(try Self.base(host) == url && ComparableURL(url) != nil)
        #expect(try Self.base(host, isEncrypted: true).hasPrefix("https://"))
        #expect(try Self.base(host, public: "https://t.example") == "https://t.example")
    }

    @Test(arguments: ["http://::1:8080", "https://" + String(repeating: "a", count: 1100) + ".example"])
    func `a base address that no call can have is an error`(url: String) {
        #expect(throws: PickupError.self) { try Self.base("::", public: url) }
    }

    @Test func `a gateway whose sessions open no app does not start`() throws {
        let configuration = try GatewayConfiguration.read(
            """
            kafka: { bootstrap_servers: 127.0.0.1:9092 }
            keys: { shop: { path: keys/shop } }
            apps: { ios: { adapter: braze, key: shop } }
            pickup:
              listen: 127.0.0.1:8080
              session: { issuer: https://login.example, jwks: keys.json }
            """)
        let error = #expect(throws: PickupError.self) {
            try PickupService(
                configuration, brokers: "127.0.0.1:9092", logger: Logger(label: "test"),
                now: { UnixTime(seconds: 0) }, files: OpenFiles(limit: 100_000))
        }
        #expect(error?.description.contains("pickup.session opens no app") == true)
    }

    @Test func `a path that is too long is no call`() {
        let long = "/v1/apps/" + String(repeating: "a", count: 1010) + "/token"
        #expect(PickupCall(target: long) == nil && PickupCall.isTooLong(long + "?wait=1"))
        let short = "/v1/apps/" + String(repeating: "a", count: 1000) + "/token"
        #expect(PickupCall(target: short) != nil && !PickupCall.isTooLong(short + "?a=" + long))
    }

    @Test(arguments: [
        "//v1/apps/staff/token", "/v1//apps/staff/token", "/v1/apps//token", "/v1/apps/staff//token",
        "/v1/apps/staff/token/", "/v1/apps/st%61ff/token", "/v1/apps/a%2fb/token", "/v1/apps/%zz/token",
        "/v1/%61pps/staff/token", "v1/apps/staff/token", "//health/live", "/health/live/", "/remint.js/", "/",
    ])
    func `another spelling of a call's path is no call`(target: String) {
        #expect(PickupCall(target: target) == nil)
    }

    @Test(arguments: [
        ("/v1/apps/staff/token?wait=1", PickupCall.token(app: "staff")), ("/v1/apps/a%2Fb/token", .token(app: "a/b")),
        ("/v1/apps/a!/token/stream", .stream(app: "a!")), ("http://a/v1/apps/staff/reports", .reports(app: "staff")),
        ("/health/live", .live),
    ])
    func `a call has the path that the page names`(target: String, call: PickupCall) {
        #expect(PickupCall(target: target) == call)
    }
}
