import Formats
import NIOCore
import NIOEmbedded
import Serving
import Synchronization
import Testing
import WorkerConfiguration

@testable import Access
@testable import Pickup

/// The PROXY protocol, version 2, in front of a connection.
@Suite struct ProxyHeaderTests {
    private static let signature: [UInt8] = [0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A]

    private static func header(_ command: UInt8, _ family: UInt8, _ body: [UInt8]) -> [UInt8] {
        signature + [command, family, UInt8(body.count >> 8), UInt8(body.count & 0xFF)] + body
    }

    private static let short = header(0x21, 0x11, [203, 0, 113, 9, 10, 0, 0, 1, 0x12, 0x34, 0, 80])
    private static let long = header(
        0x21, 0x21,
        [0x20, 0x01, 0x0D, 0xB8] + [UInt8](repeating: 0, count: 11) + [1] + [UInt8](repeating: 0, count: 20))

    @Test func `a header names the caller, and may have more`() throws {
        for (bytes, source) in [
            (Self.short, "203.0.113.9"), (Self.long, "2001:db8:0:0:0:0:0:1"),
            (Self.header(0x21, 0x11, Array(Self.short[16...]) + [4, 0, 1, 0]), "203.0.113.9"),
        ] {
            #expect(
                try ProxyHeader.read(bytes + Array("GET".utf8))
                    == .header(ProxyHeader(source: IPAddress(source)), length: bytes.count))
            for end in 0..<bytes.count { #expect(try ProxyHeader.read(Array(bytes[..<end])) == .incomplete) }
        }
    }

    @Test func `a proxy that speaks for itself names no caller`() throws {
        for bytes in [Self.header(0x20, 0x00, []), Self.header(0x21, 0x31, [UInt8](repeating: 0, count: 216))] {
            #expect(try ProxyHeader.read(bytes) == .header(ProxyHeader(source: nil), length: bytes.count))
        }
    }

    @Test(arguments: [
        Array("GET / HTTP/1.1\r\n".utf8), Array("PROXY TCP4 1.1.1.1".utf8), header(0x11, 0x11, []),
        header(0x22, 0x11, []),
        header(0x21, 0x11, [1, 2, 3]), header(0x21, 0x21, [UInt8](repeating: 0, count: 12)),
        header(0x21, 0x11, [UInt8](repeating: 0, count: 5000)),
    ])
    func `bytes that are no PROXY header are malformed`(bytes: [UInt8]) {
        #expect(throws: ProxyHeader.Malformed.self) { try ProxyHeader.read(bytes) }
    }

    private final class Reasons: Sendable {
        let all = Mutex<[ConnectionGuard.Reason]>([])
    }

    private func open(
        _ connections: OpenConnections, _ clients: ClientAddresses, _ reasons: Reasons
    ) throws -> EmbeddedChannel {
        let channel = EmbeddedChannel()
        let handler = ProxyHeaderHandler(connections, clients.connections) { reason in
            reasons.all.withLock { $0.append(reason) }
        }
        try channel.pipeline.syncOperations.addHandler(handler)
        try channel.connect(to: SocketAddress(ipAddress: "10.0.0.1", port: 1)).wait()
        return channel
    }

    @Test func `a connection is the named caller's, and what follows the header is its own`() throws {
        let clients = ClientAddresses(trusted: [], header: .forwarded, connections: ProxiedConnections())
        let connections = OpenConnections(most: 10, ofAddress: 1)
        let reasons = Reasons()
        let channel = try open(connections, clients, reasons)
        for byte in Self.short { try channel.writeInbound(ByteBuffer(bytes: [byte])) }
        try channel.writeInbound(ByteBuffer(string: "GET"))
        #expect(try channel.readInbound(as: ByteBuffer.self) == ByteBuffer(string: "GET"))
        #expect(clients.connections[ObjectIdentifier(channel)]?.description == "203.0.113.9")
        let second = try open(connections, clients, reasons)
        try second.writeInbound(ByteBuffer(bytes: Self.short))
        #expect(!second.isActive && reasons.all.withLock { $0 } == [.tooManyOfAddress])
        try channel.close().wait()
        channel.embeddedEventLoop.run()
        #expect(clients.connections[ObjectIdentifier(channel)] == nil)
        let third = try open(connections, clients, reasons)
        try third.writeInbound(ByteBuffer(bytes: Self.long + Array("GET".utf8)))
        #expect(try third.readInbound(as: ByteBuffer.self) == ByteBuffer(string: "GET"))
        let fourth = try open(connections, clients, reasons)
        try fourth.writeInbound(ByteBuffer(string: "GET / HTTP/1.1\r\n\r\n"))
        #expect(!fourth.isActive && reasons.all.withLock { $0 } == [.tooManyOfAddress, .proxyHeader])
    }
}
