import Formats
import Testing

@testable import WorkerConfiguration

@Suite("Addresses that are listened on")
struct ListenAddressTests {
    @Test(arguments: [
        ("127.0.0.1:80", "127.0.0.1:80", true), ("127.0.0.1:80", "127.0.0.1:81", false),
        ("127.0.0.1:80", "127.0.0.2:80", false), ("127.0.0.1:0", "127.0.0.1:0", false),
        ("0.0.0.0:80", "127.0.0.1:80", true), ("0.0.0.0:80", "shop.internal:80", true),
        ("0.0.0.0:80", "[::1]:80", false), ("[::]:80", "[::1]:80", true), ("[::]:80", "127.0.0.1:80", true),
        ("[::]:80", "0.0.0.0:80", true), ("[0:0:0:0:0:0:0:1]:80", "[::1]:80", true),
        ("localhost:80", "127.0.0.1:80", true),
        ("localhost:80", "[::1]:80", true), ("Localhost:80", "localhost:80", true),
        ("localhost:80", "10.0.0.1:80", false),
        ("a.example:80", "A.example:80", true), ("a.example:80", "b.example:80", false),
    ])
    func `two addresses clash where one keeps the other from being listened on`(
        _ one: String, _ other: String, _ isClash: Bool
    ) throws {
        let (one, other) = (try #require(HostAndPort(one)), try #require(HostAndPort(other)))
        #expect(one.clashes(with: other) == isClash)
        #expect(other.clashes(with: one) == isClash)
    }

    @Test(
        arguments: [
            (
                "127.0.0.1:8080",
                ["admin.listen of the worker and pickup.listen of the gateway both listen on port 8080"]
            ),
            (
                "127.0.0.1:9465",
                ["admin.listen of the worker and pickup.metrics of the gateway both listen on port 9465"]
            ),
            ("127.0.0.1:9464", []),
        ] as [(String, [String])])
    func `a worker and a gateway with one address are pointed out, for they may run on two machines`(
        _ address: String, _ messages: [String]
    ) throws {
        let file = SampleText.with(
            """
            admin: { listen: \(address) }
            pickup:
              listen: 127.0.0.1:8080
              metrics: 127.0.0.1:9465
              session: { issuer: https://login.example, jwks: keys.json }

            """)
        let (configuration, diagnostics) = file.read()
        #expect(configuration != nil)
        let found = diagnostics.filter { $0.message.contains("both listen on port") }
        #expect(found.count == messages.count && found.allSatisfy { $0.severity == .warning && $0.place.line == 10 })
        for (diagnostic, message) in zip(found, messages) { #expect(diagnostic.message.hasPrefix(message)) }
    }
}
