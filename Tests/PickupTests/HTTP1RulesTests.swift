import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

@testable import Pickup

/// HTTP/1 between the bytes of a connection and the gateway.
@Suite struct HTTP1RulesTests {
    /// A connection whose requests a test answers.
    private struct Connection {
        let channel = EmbeddedChannel()

        init(isStopping: Bool = false) throws {
            let pipeline = channel.pipeline.syncOperations
            try pipeline.addHandler(HTTPResponseEncoder())
            var limits = NIOHTTPDecoderLimitConfiguration()
            limits.maxHeaderListSize = 1000
            limits.maxHeaderFieldSize = 1000
            try pipeline.addHandler(
                ByteToMessageHandler(
                    HTTPRequestDecoder(
                        leftOverBytesStrategy: .dropBytes, informationalResponseStrategy: .drop,
                        limitConfiguration: limits)))
            try pipeline.addHandler(HTTP1Rules(isStopping: { isStopping }))
            try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        }

        func send(_ lines: String...) throws {
            try channel.writeInbound(ByteBuffer(string: lines.joined(separator: "\r\n") + "\r\n\r\n"))
        }

        /// The heads that came through.
        func heads() throws -> [HTTPRequestHead] {
            var heads: [HTTPRequestHead] = []
            while let part = try channel.readInbound(as: HTTPServerRequestPart.self) {
                if case .head(let head) = part { heads.append(head) }
            }
            return heads
        }

        func answer(_ body: String, headers: HTTPHeaders = [:]) throws {
            try channel.writeOutbound(
                HTTPServerResponsePart.head(HTTPResponseHead(version: .http1_1, status: .ok, headers: headers)))
            try channel.writeOutbound(HTTPServerResponsePart.body(.byteBuffer(ByteBuffer(string: body))))
            try channel.writeOutbound(HTTPServerResponsePart.end(nil))
        }

        /// The bytes that the client has got.
        func bytes() throws -> String {
            var text = ""
            while let part = try channel.readOutbound(as: ByteBuffer.self) { text += String(buffer: part) }
            return text.lowercased()
        }
    }

    private static let ok = ["content-length": "2"] as HTTPHeaders

    @Test(arguments: [
        ["GET / HTTP/1.1"], ["GET / HTTP/1.1", "Host: a", "Host: b"], ["GET / HTTP/1.1", "Host: a", "host: a"],
        ["GET / HTTP/1.0", "Host: a", "Host: b"],
    ])
    func `a request without one host is refused, and its connection ends`(_ lines: [String]) throws {
        let connection = try Connection()
        try connection.channel.writeInbound(ByteBuffer(string: lines.joined(separator: "\r\n") + "\r\n\r\n"))
        #expect(try connection.heads().isEmpty)
        let answer = try connection.bytes()
        #expect(answer.hasPrefix("http/1.1 400 "))
        #expect(answer.contains("connection: close") && answer.contains("exactly one host field"))
        connection.channel.embeddedEventLoop.advanceTime(by: .seconds(5))
        #expect(!connection.channel.isActive)
    }

    @Test func `a request of HTTP/1.0 needs no host`() throws {
        let connection = try Connection()
        try connection.send("GET / HTTP/1.0")
        #expect(try connection.heads().map { $0.headers["connection"] } == [["close"]])
    }

    @Test func `a client of HTTP/1.0 gets no chunks, and keeps the connection where it asks to`() throws {
        let connection = try Connection()
        try connection.send("GET / HTTP/1.0", "Connection: keep-alive")
        try connection.answer("{}", headers: Self.ok)
        let first = try connection.bytes()
        #expect(first.hasPrefix("http/1.0 200 ok\r\n") && first.contains("connection: keep-alive"), "\(first)")
        #expect(try connection.heads().first?.isKeepAlive == true)
        // A stream has no length: its end is the connection's.
        try connection.send("GET /stream HTTP/1.0", "Connection: keep-alive")
        try connection.answer("data: x\n\n")
        let second = try connection.bytes()
        #expect(second.contains("connection: close") && !second.contains("chunked"), "\(second)")
        #expect(second.hasSuffix("\r\n\r\ndata: x\n\n"))
    }

    @Test func `a client that waits for 100 Continue is told to send its body at once`() throws {
        let connection = try Connection()
        try connection.send("POST / HTTP/1.1", "Host: a", "Expect: 100-continue", "Content-Length: 2")
        #expect(try connection.bytes() == "http/1.1 100 continue\r\n\r\n")
        try connection.channel.writeInbound(ByteBuffer(string: "{}"))
        try connection.answer("{}", headers: Self.ok)
        #expect(try connection.bytes().hasPrefix("http/1.1 200 ok"))
    }

    @Test func `a body that is too large is not asked for, and its connection ends with the answer`() throws {
        let connection = try Connection()
        try connection.send("POST / HTTP/1.1", "Host: a", "Expect: 100-continue", "Content-Length: 65537")
        #expect(try connection.bytes().isEmpty)
        try connection.answer("{}", headers: Self.ok)
        #expect(try connection.bytes().contains("connection: close"))
    }

    @Test func `100 Continue waits for the answer before it`() throws {
        let connection = try Connection()
        try connection.send(
            "GET / HTTP/1.1", "Host: a", "", "POST / HTTP/1.1", "Host: a", "Expect: 100-continue", "Content-Length: 2")
        #expect(try connection.bytes().isEmpty)
        try connection.answer("{}", headers: Self.ok)
        #expect(try connection.bytes().hasSuffix("{}http/1.1 100 continue\r\n\r\n"))
    }

    @Test func `an expectation that nobody knows is refused`() throws {
        let connection = try Connection()
        try connection.send("POST / HTTP/1.1", "Host: a", "Expect: 200-ok", "Content-Length: 2")
        #expect(try connection.bytes().hasPrefix("http/1.1 417 "))
        #expect(try connection.heads().isEmpty)
    }

    @Test func `an answer to HEAD is the head of the answer to GET`() throws {
        for headers in [Self.ok, [:]] {
            let connection = try Connection()
            for method in ["GET", "HEAD"] { try connection.send("\(method) / HTTP/1.1", "Host: a") }
            try connection.answer("{}", headers: headers)
            let full = try connection.bytes()
            try connection.answer("{}", headers: headers)
            let head = try connection.bytes()
            #expect(full.hasPrefix(head) && head.hasSuffix("\r\n\r\n"), "\(full) \(head)")
            #expect(full.count > head.count)
        }
    }

    @Test(arguments: [
        (String(repeating: "x", count: 2000), "GET / HTTP/1.1", "431"), ("a", "GET / HTTP/2.7", "505"),
        ("a", "GET\u{1} / HTTP/1.1", "400"), ("a", "hello", "400"),
    ])
    func `a request that cannot be read is answered with the reason`(_ host: String, _ line: String, _ status: String)
        throws
    {
        let connection = try Connection()
        try? connection.send(line, "Host: \(host)")
        let answer = try connection.bytes()
        #expect(answer.hasPrefix("http/1.1 \(status) "), "\(answer)")
        #expect(answer.contains("application/problem+json"))
    }

    @Test(arguments: ["Connection: close", "Connection: TE, Close", "Connection: Upgrade\r\nUpgrade: h2c"])
    func `a connection that cannot go on says so`(_ field: String) throws {
        let connection = try Connection()
        try connection.send("GET / HTTP/1.1", "Host: a", field)
        #expect(try connection.heads().map { $0.headers["connection"] } == [["close"]])
        try connection.answer("{}", headers: Self.ok)
        #expect(try connection.bytes().contains("connection: close"))
    }

    @Test func `a gateway that is about to stop ends each connection with its answer`() throws {
        let connection = try Connection(isStopping: true)
        try connection.send("GET / HTTP/1.1", "Host: a")
        try connection.answer("{}", headers: Self.ok)
        #expect(try connection.bytes().contains("connection: close"))
    }

    @Test(arguments: [
        ([#""7""#], true), ([#"W/"7""#], true), ([#""6", W/"7""#], true), ([#""6""#, #""7""#], true), (["*"], true),
        ([#""6""#], false), (["7"], false), ([#""7"#], false), ([], false), ([#""6,7", "8""#], false),
        ([#"w/"7""#], false),
        ([#"*, "6""#], false),
    ])
    func `If-None-Match is a list of tags, weak ones too`(_ values: [String], _ isMatch: Bool) {
        #expect(EntityTags(values).contain(#""7""#) == isMatch)
    }
}
