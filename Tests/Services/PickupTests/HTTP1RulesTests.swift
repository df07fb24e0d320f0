import NIOCore
import NIOEmbedded
import NIOHTTP1
import Synchronization
import Testing

@testable import Pickup

/// HTTP/1 between the bytes of a connection and the gateway.
@Suite struct HTTP1RulesTests {
    private static let ok = ["content-length": "2"] as HTTPHeaders

    @Test(arguments: [
        ["GET / HTTP/1.1"], ["GET / HTTP/1.1", "Host: a", "Host: b"], ["GET / HTTP/1.1", "Host: a", "host: a"],
        ["GET / HTTP/1.0", "Host: a", "Host: b"],
    ])
    func `a request without one host is refused, and its connection ends`(_ lines: [String]) throws {
        let connection = try WireConnection()
        try connection.channel.writeInbound(ByteBuffer(string: lines.joined(separator: "\r\n") + "\r\n\r\n"))
        #expect(try connection.heads().isEmpty)
        let answer = try connection.bytes()
        #expect(answer.hasPrefix("http/1.1 400 "))
        #expect(answer.contains("connection: close") && answer.contains("exactly one host field"))
        connection.channel.embeddedEventLoop.advanceTime(by: .seconds(5))
        #expect(!connection.channel.isActive)
    }

    @Test func `a head that never ends is no refused request, and one that is damaged is`() throws {
        let refused = Mutex<[Int]>([])
        let connection = try WireConnection(refused: { status in refused.withLock { $0.append(status) } })
        try connection.channel.writeInbound(ByteBuffer(string: "GET / HTTP/1.1\r\nHost: a"))
        try connection.channel.close().wait()
        #expect(refused.withLock { $0 }.isEmpty)
        let damaged = try WireConnection(refused: { status in refused.withLock { $0.append(status) } })
        try damaged.channel.writeInbound(ByteBuffer(string: "GET / HTTP/1.1\r\n:\r\n\r\n"))
        #expect(refused.withLock { $0 } == [400])
    }

    @Test func `a request of HTTP/1.0 needs no host`() throws {
        let connection = try WireConnection()
        try connection.send("GET / HTTP/1.0")
        #expect(try connection.heads().map { $0.headers["connection"] } == [["close"]])
    }

    @Test func `a client of HTTP/1.0 gets no chunks, and keeps the connection where it asks to`() throws {
        let connection = try WireConnection()
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

    @Test func `a client that waits for 100 Continue is asked to send its body once that is wanted`() throws {
        let connection = try WireConnection()
        try connection.send("POST / HTTP/1.1", "Host: a", "Expect: 100-continue", "Content-Length: 2 ")
        #expect(try connection.bytes().isEmpty, "a caller that is refused by its head sends no body")
        connection.wantBody()
        connection.wantBody()
        #expect(try connection.bytes() == "http/1.1 100 continue\r\n\r\n")
        try connection.channel.writeInbound(ByteBuffer(string: "{}"))
        try connection.answer("{}", headers: Self.ok)
        #expect(try connection.bytes().hasPrefix("http/1.1 200 ok"))
    }

    @Test func `a body that is too large is not asked for, and its connection ends with the answer`() throws {
        let connection = try WireConnection()
        try connection.send("POST / HTTP/1.1", "Host: a", "Expect: 100-continue", "Content-Length: 65537")
        connection.wantBody()
        #expect(try connection.bytes().isEmpty)
        try connection.answer("{}", headers: Self.ok)
        #expect(try connection.bytes().contains("connection: close"))
    }

    @Test func `an answer in place of 100 Continue ends the connection`() throws {
        let connection = try WireConnection()
        try connection.send("POST / HTTP/1.1", "Host: a", "Expect: 100-continue", "Content-Length: 2")
        try connection.answer("{}", headers: Self.ok)
        connection.wantBody()
        let bytes = try connection.bytes()
        #expect(bytes.contains("connection: close") && !bytes.contains("100 continue"), "\(bytes)")
    }

    @Test func `100 Continue waits for the answer before it`() throws {
        let connection = try WireConnection()
        try connection.send(
            "GET / HTTP/1.1", "Host: a", "", "POST / HTTP/1.1", "Host: a", "Expect: 100-continue", "Content-Length: 2")
        #expect(try connection.bytes().isEmpty)
        try connection.answer("{}", headers: Self.ok)
        connection.wantBody()
        #expect(try connection.bytes().hasSuffix("{}http/1.1 100 continue\r\n\r\n"))
    }

    @Test func `an expectation that nobody knows is refused`() throws {
        let connection = try WireConnection()
        try connection.send("POST / HTTP/1.1", "Host: a", "Expect: 200-ok", "Content-Length: 2")
        #expect(try connection.bytes().hasPrefix("http/1.1 417 "))
        #expect(try connection.heads().isEmpty)
    }

    @Test func `an answer to HEAD is the head of the answer to GET`() throws {
        for headers in [Self.ok, [:]] {
            let connection = try WireConnection()
            try connection.send("GET / HTTP/1.1", "Host: a")
            try connection.answer("{}", headers: headers)
            let full = try connection.bytes()
            try connection.send("HEAD / HTTP/1.1", "Host: a")
            try connection.answer("{}", headers: headers)
            let head = try connection.bytes()
            #expect(full.hasPrefix(head) && head.hasSuffix("\r\n\r\n"), "\(full) \(head)")
            #expect(full.count > head.count)
        }
    }

    @Test(arguments: [
        (String(repeating: "x", count: 2000), "GET / HTTP/1.1", "431"), ("a", "GET / HTTP/2.7", "505"),
        ("a", "GET\u{1} / HTTP/1.1", "400"), ("a", "hello", "400"), ("a", "BREW / HTTP/1.1", "501"),
        ("a", "PRI * HTTP/2.0", "505"), ("a", "CONNECT a:1 HTTP/1.1", "501"),
        ("a", "GET /\(String(repeating: "x", count: 9000)) HTTP/1.1", "414"),
        ("", "GET / HTTP/1.1", "400"), ("a b", "GET / HTTP/1.1", "400"), ("a:b", "GET / HTTP/1.1", "400"),
        ("[::1", "GET / HTTP/1.1", "400"), ("a/b", "GET / HTTP/1.1", "400"), ("u@a", "GET / HTTP/1.1", "400"),
    ])
    func `a request that cannot be read is answered with the reason`(_ host: String, _ line: String, _ status: String)
        throws
    {
        let connection = try WireConnection()
        try? connection.send(line, "Host: \(host)")
        let answer = try connection.bytes()
        #expect(answer.hasPrefix("http/1.1 \(status) "), "\(answer)")
        #expect(answer.contains("application/problem+json"))
        #expect(answer.contains("\r\ndate: ") && answer.contains("connection: close"))
    }

    @Test func `a line without a carriage return is no HTTP`() throws {
        let connection = try WireConnection()
        _ = try? connection.channel.writeInbound(ByteBuffer(string: "GET / HTTP/1.1\nHost: a\n\n"))
        let answer = try connection.bytes()
        #expect(answer.hasPrefix("http/1.1 400 "), "\(answer)")
    }

    @Test(arguments: ["a", "a:80", "a:", "example.com:8443", "[::1]", "[::1]:80", "127.0.0.1:1", "xn--a.de", "a_b%41"])
    func `a host with or without a port is served`(_ host: String) throws {
        let connection = try WireConnection()
        try connection.send("GET / HTTP/1.1", "Host: \(host)")
        #expect(try connection.heads().count == 1)
    }

    @Test(arguments: ["Connection: close", "Connection: TE, Close", "Connection: Upgrade\r\nUpgrade: h2c"])
    func `a connection that cannot go on announces its close`(_ field: String) throws {
        let connection = try WireConnection()
        try connection.send("GET / HTTP/1.1", "Host: a", field)
        #expect(try connection.heads().map { $0.headers["connection"] } == [["close"]])
        try connection.answer("{}", headers: Self.ok)
        #expect(try connection.bytes().contains("connection: close"))
    }

    @Test func `a gateway that is about to stop ends each connection with its answer`() throws {
        let connection = try WireConnection(isStopping: true)
        try connection.send("GET / HTTP/1.1", "Host: a")
        try connection.answer("{}", headers: Self.ok)
        #expect(try connection.bytes().contains("connection: close"))
    }

    @Test(arguments: [
        // An unknown coding, and the end of the body is clear.
        (["Transfer-Encoding: gzip, chunked"], "501"),
        (["Transfer-Encoding: gzip", "Transfer-Encoding: chunked"], "501"),
        (["Transfer-Encoding: x, chunked"], "501"),
        // The end of the body is not clear (RFC 9112, section 6.3).
        (["Transfer-Encoding: identity"], "400"), (["Transfer-Encoding: gzip"], "400"),
        (["Transfer-Encoding: x"], "400"),
        (["Transfer-Encoding: chunked, gzip"], "400"), (["Transfer-Encoding: chunked, chunked"], "400"),
        (["Transfer-Encoding: chunked", "Transfer-Encoding: identity"], "400"), (["Transfer-Encoding: "], "400"),
        (["Transfer-Encoding: chunked", "Content-Length: 2"], "400"),
        (["Content-Length: 2", "Transfer-Encoding: chunked"], "400"),
        (["Content-Length: 2", "Transfer-Encoding: gzip, chunked"], "400"),
        (["Content-Length: 2", "Content-Length: 3"], "400"),
    ])
    func `a body with an odd transfer coding is refused, and its connection ends`(_ fields: [String], _ status: String)
        throws
    {
        let connection = try WireConnection()
        let head = ["POST / HTTP/1.1", "Host: a"] + fields
        _ = try? connection.channel.writeInbound(ByteBuffer(string: head.joined(separator: "\r\n") + "\r\n\r\n{}"))
        #expect(try connection.heads().isEmpty)
        let answer = try connection.bytes()
        #expect(answer.hasPrefix("http/1.1 \(status) "), "\(answer)")
        #expect(answer.contains("connection: close") && answer.contains("application/problem+json"))
        connection.channel.embeddedEventLoop.advanceTime(by: .seconds(5))
        #expect(!connection.channel.isActive)
    }

    @Test func `HTTP 1.0 has no transfer codings`() throws {
        let connection = try WireConnection()
        try? connection.send("POST / HTTP/1.0", "Transfer-Encoding: chunked")
        #expect(try connection.bytes().hasPrefix("http/1.1 400 "))
    }

    @Test func `a chunked body is read`() throws {
        let connection = try WireConnection()
        for _ in 0..<2 {
            try connection.send("POST / HTTP/1.1", "Host: a", "Transfer-Encoding: Chunked")
            try connection.channel.writeInbound(
                ByteBuffer(string: "4\r\n\r\n\r\n\r\n2\r\n{}\r\n0\r\nTrailer: x\r\n\r\n"))
            var body = ""
            var isComplete = false
            while let part = try connection.channel.readInbound(as: HTTPServerRequestPart.self) {
                if case .body(let bytes) = part { body += String(buffer: bytes) }
                if case .end = part { isComplete = true }
            }
            #expect(body == "\r\n\r\n{}" && isComplete)
            try connection.answer("{}", headers: Self.ok)
        }
    }

    @Test func `a chunk that cannot be read is refused, and the body's reader hears of it`() throws {
        let connection = try WireConnection()
        try connection.send("POST / HTTP/1.1", "Host: a", "Transfer-Encoding: chunked")
        #expect(throws: HTTPParserError.self) {
            try connection.channel.writeInbound(ByteBuffer(string: "nonsense\r\n"))
        }
        #expect(try connection.bytes().hasPrefix("http/1.1 400 "))
        // The answer of whoever was to answer comes too late.
        #expect(throws: (any Error).self) { try connection.answer("{}", headers: Self.ok) }
        #expect(try connection.bytes().isEmpty)
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
