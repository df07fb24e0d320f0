import HTTPTypes
import HummingbirdCore
import NIOCore
import Testing
import WorkerConfiguration

@testable import Pickup

/// The headers that caches and proxies in front of the gateway obey.
@Suite struct AnswerHeaderTests {
    @Test(arguments: [nil, "https://shop.example", "https://evil.example"])
    func `a cache keeps the answers to each origin apart, and to requests without one`(origin: String?) {
        let frame = PickupFrame(origins: ["https://shop.example"], metrics: PickupMetrics(), nextNonce: { nil })
        var head = HTTPRequest(method: .get, scheme: "http", authority: "a", path: "/remint.mjs")
        head.headerFields[.origin] = origin
        let request = Request(head: head, body: RequestBody(buffer: ByteBuffer()))
        let answer = frame.finish(Answer(.ok), to: PickupFrame.Asked(request), nil)
        #expect(answer.headers[.vary] == "Origin")
        #expect((answer.headers[.accessControlAllowOrigin] == nil) == (origin != "https://shop.example"))
    }

    @Test(arguments: [
        "capacitor://localhost", "ionic://localhost", "tauri://localhost", "http://localhost:8100",
        "chrome-extension://cjpalhdlnbpafiamejdnhcphjbkeiagm",
    ])
    func `pages of apps and extensions may be named`(origin: String) throws {
        let configuration = try GatewayConfiguration.read(
            """
            kafka: { bootstrap_servers: 127.0.0.1:9092 }
            keys: { shop: { path: keys/shop } }
            apps: { ios: { adapter: braze, key: shop } }
            pickup:
              listen: 127.0.0.1:8080
              session: { issuer: https://login.example, jwks: keys.json }
              origins: ["\(origin)"]
            """)
        #expect(configuration.pickup?.origins == [origin])
    }

    @Test func `no proxy transforms a stream`() {
        #expect(TokenStream.head.headers[.cacheControl] == "no-store, no-transform")
    }
}
