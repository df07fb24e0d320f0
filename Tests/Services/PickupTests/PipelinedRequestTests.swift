import NIOCore
import NIOEmbedded
import NIOHTTP1
import Synchronization
import Testing

@testable import Pickup

/// Clients that send requests without waiting for answers.
@Suite struct PipelinedRequestTests {
    private static let ok = ["content-length": "2"] as HTTPHeaders

    @Test func `one request at a time is read, and the answers come in order`() throws {
        let connection = try WireConnection()
        let requests = (0..<500).map { number in
            number % 2 == 0
                ? "GET /\(number) HTTP/1.1\r\nHost: a\r\n\r\n"
                : "POST /\(number) HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\n\r\n{\r\n\r\n}"
        }
        try connection.channel.writeInbound(ByteBuffer(string: requests.joined()))
        for number in 0..<500 {
            #expect(try connection.heads().map(\.uri) == ["/\(number)"])
            try connection.answer("{\(number)}", headers: ["content-length": "\("{\(number)}".count)"])
            #expect(try connection.bytes().hasSuffix("\r\n\r\n{\(number)}"))
        }
        #expect(connection.gate.count == 0)
    }

    // The decoder itself refuses a tab behind the number.
    @Test(arguments: ["6 ", "\t6 ", " 6  "])
    func `a length with white space around is read once, and the request behind it is another one`(length: String)
        throws
    {
        let connection = try WireConnection()
        try connection.channel.writeInbound(
            ByteBuffer(
                string: """
                    POST /1 HTTP/1.1\r\nHost: a \r\nContent-Length: \(length)\r\n\r\n{\r\n\r\n}\
                    GET /2 HTTP/1.1\r\nHost: a\r\n\r\n
                    """))
        let head = try #require(try connection.heads().first)
        #expect(head.uri == "/1" && head.headers["content-length"] == ["6"] && head.headers["host"] == ["a"])
        try connection.answer("{}", headers: Self.ok)
        #expect(try connection.heads().map(\.uri) == ["/2"])
        try connection.answer("{}", headers: Self.ok)
        #expect(try connection.bytes().ranges(of: "http/1.1 200 ok").count == 2)
    }

    @Test(arguments: [("nonsense", "400"), ("GET / HTTP/1.1", "400"), ("GET / HTTP/2.7", "505")])
    func `a call that waits is answered before the request behind it is refused`(_ line: String, _ status: String)
        throws
    {
        let connection = try WireConnection()
        try connection.send("GET /held HTTP/1.1", "Host: a", "", line)
        #expect(try connection.heads().map(\.uri) == ["/held"])
        #expect(try connection.bytes().isEmpty)
        try connection.answer("{}", headers: Self.ok)
        let answers = try connection.bytes()
        #expect(answers.hasPrefix("http/1.1 200 ok") && answers.contains("{}http/1.1 \(status) "), "\(answers)")
        #expect(answers.ranges(of: "connection: close").count == 1)
        connection.channel.embeddedEventLoop.advanceTime(by: .seconds(5))
        #expect(!connection.channel.isActive)
    }

    @Test func `no further request is read of a client that does not read its answers`() throws {
        let connection = try WireConnection()
        try connection.send("GET /1 HTTP/1.1", "Host: a", "", "GET /2 HTTP/1.1", "Host: a")
        connection.setWritable(false)
        try connection.answer("{}", headers: Self.ok)
        #expect(try connection.heads().map(\.uri) == ["/1"])
        #expect(connection.gate.count > 0)
        connection.setWritable(true)
        #expect(try connection.heads().map(\.uri) == ["/2"])
        #expect(connection.gate.count == 0)
    }

    @Test func `requests that wait on a connection are bounded`() throws {
        let overflows = Atomic(0)
        let connection = try WireConnection(overflowed: { overflows.add(1, ordering: .relaxed) })
        try connection.send("GET / HTTP/1.1", "Host: a")
        let requests = String(repeating: "GET / HTTP/1.1\r\nHost: a\r\n\r\n", count: 500)
        var sent = 0
        while connection.channel.isActive, sent < 1000 {
            _ = try? connection.channel.writeInbound(ByteBuffer(string: requests))
            #expect(connection.gate.count <= RequestGate.limit)
            sent += 1
        }
        #expect(!connection.channel.isActive && overflows.load(ordering: .relaxed) == 1)
        #expect(connection.gate.count == 0)
    }

    @Test func `a client that closes its side gets the answers to all that it sent before`() throws {
        let connection = try WireConnection()
        let events = InboundClosings()
        try connection.channel.pipeline.syncOperations.addHandler(events)
        try connection.send("GET /1 HTTP/1.1", "Host: a", "", "GET /2 HTTP/1.1", "Host: a")
        connection.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        #expect(events.count == 0)
        try connection.answer("{}", headers: Self.ok)
        #expect(try connection.heads().map(\.uri) == ["/1", "/2"])
        #expect(events.count == 1)
        try connection.answer("{}", headers: Self.ok)
        #expect(try connection.bytes().ranges(of: "200 ok").count == 2)
    }

    /// Counts how often the other side was closed.
    private final class InboundClosings: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        private(set) var count = 0

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            if event as? ChannelEvent == .inputClosed { count += 1 }
        }
    }
}
