import Formats
import HTTPTypes
import NIOCore
import Testing
import WorkerConfiguration

@testable import Pickup

/// Tests of the caller's address, behind proxies and with callers that lie.
@Suite struct ClientAddressTests {
    private let channel = ObjectIdentifier(ClientAddressTests.self)

    private func client(
        _ header: Configuration.Pickup.ProxyHeader, _ fields: [(String, String)], from peer: String
    ) throws -> String? {
        let trusted = ["10.0.0.0/8", "fd00::/8"].compactMap { AddressRange($0) }
        let clients = ClientAddresses(trusted: trusted, header: header, connections: ProxiedConnections())
        var headers = HTTPFields()
        for (name, value) in fields { headers.append(HTTPField(name: try #require(.init(name)), value: value)) }
        return clients.client(of: headers, on: channel, from: try SocketAddress(ipAddress: peer, port: 1))?.description
    }

    @Test(arguments: [
        ("203.0.113.9", "203.0.113.9"), ("203.0.113.9, 10.1.1.1", "203.0.113.9"),
        ("1.1.1.1, 203.0.113.9", "203.0.113.9"), ("10.9.9.9, 203.0.113.9, 10.1.1.1,10.2.2.2", "203.0.113.9"),
        ("203.0.113.9:4711", "203.0.113.9"), ("[2001:db8::1]:4711", "2001:db8:0:0:0:0:0:1"),
        ("2001:db8::1", "2001:db8:0:0:0:0:0:1"), ("::ffff:203.0.113.9", "203.0.113.9"),
        ("10.9.9.9, 10.1.1.1", "10.9.9.9"), ("", "10.0.0.1"), ("unknown", "10.0.0.1"), ("1.1.1.1, unknown", "10.0.0.1"),
        ("1.1.1.1, junk, 10.1.1.1", "10.1.1.1"), ("1.1.1.1,", "10.0.0.1"), ("[::1", "10.0.0.1"),
        ("1.1.1.1:2:3", "10.0.0.1"),
    ])
    func `the rightmost hop that is no trusted proxy is the caller`(value: String, expected: String) throws {
        #expect(try client(.xForwardedFor, [("X-Forwarded-For", value)], from: "10.0.0.1") == expected)
    }

    @Test func `several lines of a header are one list`() throws {
        let lines = [
            ("X-Forwarded-For", "1.1.1.1"), ("X-Forwarded-For", "203.0.113.9"), ("X-Forwarded-For", "10.1.1.1"),
        ]
        #expect(try client(.xForwardedFor, lines, from: "10.0.0.1") == "203.0.113.9")
    }

    @Test(arguments: [
        ("for=203.0.113.9", "203.0.113.9"), ("For=203.0.113.9;proto=https;by=10.0.0.1", "203.0.113.9"),
        (#"for="[2001:db8::1]:4711""#, "2001:db8:0:0:0:0:0:1"), ("for=1.1.1.1, for=203.0.113.9", "203.0.113.9"),
        ("for=203.0.113.9, for=10.1.1.1", "203.0.113.9"), ("proto=https", "10.0.0.1"), ("for=unknown", "10.0.0.1"),
        ("for=_hidden, for=10.1.1.1", "10.1.1.1"), (#"for="1.1.1.1, for=203.0.113.9"#, "10.0.0.1"),
        (#"for="x, for="[2001:db8::1]:4711""#, "10.0.0.1"), (#"for="\, for="[2001:db8::1]""#, "10.0.0.1"),
        ("for=1.1.1.1;for=2.2.2.2", "10.0.0.1"), (#"host="a,for=1.1.1.1", for=203.0.113.9"#, "203.0.113.9"),
    ])
    func `Forwarded is read as RFC 7239 has it, and a hostile part spoils no more than itself`(
        value: String, expected: String
    ) throws {
        #expect(try client(.forwarded, [("Forwarded", value)], from: "10.0.0.1") == expected)
    }

    @Test func `a peer that is no trusted proxy is the caller, whatever its headers claim`() throws {
        for header in [Configuration.Pickup.ProxyHeader.forwarded, .xForwardedFor] {
            let lies = [
                ("X-Forwarded-For", "1.1.1.1, 10.0.0.1"), ("Forwarded", "for=1.1.1.1"), ("X-Real-IP", "1.1.1.1"),
            ]
            #expect(try client(header, lies, from: "203.0.113.9") == "203.0.113.9")
        }
    }

    @Test func `the header that the proxies do not use is a caller's, and ignored`() throws {
        let lies = [("Forwarded", "for=1.1.1.1"), ("X-Forwarded-For", "203.0.113.9")]
        #expect(try client(.xForwardedFor, lies, from: "10.0.0.1") == "203.0.113.9")
        #expect(try client(.forwarded, lies, from: "fd00::1") == "1.1.1.1")
    }
}
