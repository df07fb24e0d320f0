import AdapterKit
import StubServer
import Testing

@Suite(.timeLimit(.minutes(5))) struct MisbehaviourTests {
    /// The appearance of a fault on the wire.
    struct Sight: Sendable, CustomTestStringConvertible {
        let misbehaviour: Misbehaviour
        let status: Int?
        let head: String
        var body = ""
        var testDescription: String { "\(misbehaviour)" }
    }

    static let whole: [Sight] = [
        Sight(misbehaviour: .none, status: 200, head: "HTTP/1.1 200 OK\r\n", body: #""answer":1"#),
        Sight(
            misbehaviour: .latency(.milliseconds(20)), status: 200, head: "HTTP/1.1 200 OK\r\n", body: #""answer":1"#),
        Sight(misbehaviour: .status(500), status: 500, head: "HTTP/1.1 500 Internal Server Error\r\n"),
        Sight(misbehaviour: .status(299), status: 299, head: "HTTP/1.1 299 "),
        Sight(
            misbehaviour: .throttled(retryAfter: nil), status: 429, head: "HTTP/1.1 429 Too Many Requests\r\ncontent"),
        Sight(
            misbehaviour: .throttled(retryAfter: 7), status: 429,
            head: "HTTP/1.1 429 Too Many Requests\r\nretry-after: 7\r\n"),
        Sight(
            misbehaviour: .redirect(to: "https://elsewhere.example/"), status: 307,
            head: "HTTP/1.1 307 Temporary Redirect\r\nlocation: https://elsewhere.example/\r\n"),
        Sight(misbehaviour: .wrongJSON, status: 200, head: "HTTP/1.1 200 OK\r\n", body: "weather"),
        Sight(
            misbehaviour: .webPage, status: 200, head: "HTTP/1.1 200 OK\r\ncontent-type: text/html", body: "<!doctype"),
        Sight(
            misbehaviour: .oversizedHead(bytes: 100_000), status: 200,
            head: "HTTP/1.1 200 OK\r\nx-padding: " + String(repeating: "x", count: 3),
            body: "{}"),
    ]

    @Test(arguments: whole) func `the server answers wrongly but wholly, and again on the same connection`(sight: Sight)
        async throws
    {
        try await withServer(sight.misbehaviour) { server in
            try await PlainClient.with(port: server.port) { client in
                for _ in 1...2 {
                    try await client.send(get())
                    let (head, body) = try await client.readAnswer()
                    #expect(head.hasPrefix(sight.head))
                    if !sight.body.isEmpty, server.traffic.requests == 1 { #expect(body.contains(sight.body)) }
                }
            }
            #expect(server.requests.map(\.status) == [sight.status, sight.status])
            #expect(server.traffic.connections == 1)
        }
    }

    static let cut: [Sight] = [
        Sight(misbehaviour: .garbage, status: nil, head: "\u{0}\u{1}this is not"),
        Sight(misbehaviour: .hangUp, status: nil, head: ""),
        Sight(misbehaviour: .truncated, status: 200, head: "HTTP/1.1 200 OK\r\n", body: #"{"answer":1"#),
        Sight(misbehaviour: .truncatedChunks, status: 200, head: "HTTP/1.1 200 OK\r\n", body: "2\r\n{}\r\n"),
    ]

    @Test(arguments: cut) func `the server closes the connection in the middle of an answer`(sight: Sight) async throws
    {
        try await withServer(sight.misbehaviour) { server in
            let all = try await PlainClient.with(port: server.port) { client in
                try await client.send(get())
                return try await client.readToEnd()
            }
            #expect(all.hasPrefix(sight.head))
            #expect(all.contains(sight.body) || sight.body.isEmpty)
            #expect(all.isEmpty == sight.head.isEmpty)
            #expect(server.requests.map(\.status) == [sight.status])
        }
    }

    @Test func `the server declares more bytes than it sends where it cuts a body`() async throws {
        try await withServer(.truncated) { server in
            let all = try await PlainClient.with(port: server.port) { client in
                try await client.send(get())
                return try await client.readToEnd()
            }
            let parts = all.split(separator: "\r\n\r\n", maxSplits: 1)
            let length = try #require(all.firstMatch(of: /content-length: (\d+)/).flatMap { Int($0.1) })
            #expect(parts.count == 2 && parts[1].utf8.count < length)
        }
    }

    @Test func `the server resets a connection`() async throws {
        try await withServer(.reset) { server in
            let error = await #expect(throws: (any Error).self) {
                try await PlainClient.with(port: server.port) { client in
                    try await client.send(get())
                    _ = try await client.readToEnd()
                }
            }
            #expect("\(error.map { "\($0)" } ?? "")".contains("reset"))
        }
    }

    @Test(arguments: [Misbehaviour.slowLoris(every: .milliseconds(1)), .slowHead(every: .milliseconds(1))])
    func `the server sends without end, byte by byte`(misbehaviour: Misbehaviour) async throws {
        try await withServer(misbehaviour) { server in
            try await PlainClient.with(port: server.port) { client in
                try await client.send(get())
                var bytes: [UInt8] = []
                while bytes.count < 600, let more = try await client.next() { bytes += more }
                #expect(bytes.count >= 600)
                #expect(bytes.starts(with: "HTTP/1.1 200 OK\r\n".utf8))
            }
        }
    }

    @Test(arguments: [true, false]) func `the server sends as many bytes as configured`(isDeclared: Bool) async throws {
        let count = 3 << 20
        try await withServer(.oversized(bytes: count, declared: isDeclared)) { server in
            let all = try await PlainClient.with(port: server.port) { client in
                try await client.send(get(headers: "connection: close\r\n"))
                return try await client.readToEnd()
            }
            #expect(all.utf8.count { $0 == UInt8(ascii: "x") } >= count)
            #expect(all.contains("content-length: \(count + 14)\r\n") == isDeclared)
            #expect(all.hasSuffix(isDeclared ? #""}"# : "\r\n0\r\n\r\n"))
            #expect(server.traffic.bytesSent >= count)
        }
    }

    @Test func `the server misbehaves as often as configured, and then no more`() async throws {
        try await withServer { server in
            server.misbehave(.status(503), for: 3)
            try await PlainClient.with(port: server.port) { client in
                for _ in 1...5 {
                    try await client.send(get())
                    _ = try await client.readAnswer()
                }
            }
            #expect(server.requests.map(\.status) == [503, 503, 503, 200, 200])
            #expect(server.misbehaviour == .none)
            server.misbehave(.silence, for: 0)
            #expect(server.misbehaviour == .none)
        }
    }

    @Test func `the server drops line breaks from a header's value`() async throws {
        try await withServer(.redirect(to: "/a\r\nset-cookie: b")) { server in
            try await PlainClient.with(port: server.port) { client in
                try await client.send(get())
                #expect(try await client.readAnswer().head.contains("location: /aset-cookie: b\r\n"))
            }
        }
    }
}
