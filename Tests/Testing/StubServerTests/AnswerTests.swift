import AdapterKit
import CertificateTestSupport
import StubServer
import Testing

@Suite(.timeLimit(.minutes(5))) struct AnswerTests {
    @Test func `the stub gets the request as it was sent, and the client the stub's answer`() async throws {
        try await withServer { server in
            try await PlainClient.with(port: server.port) { client in
                try await client.send(
                    "POST /users/a%2Fb?x=%20+1 HTTP/1.1\r\nhost: h\r\nX-Echo: heard\r\ncontent-length: 5\r\n\r\nhello")
                let (head, body) = try await client.readAnswer()
                #expect(head.hasPrefix("HTTP/1.1 200 OK\r\n"))
                #expect(head.contains("x-echo: heard\r\n"))
                #expect(head.contains("content-type: application/json\r\n"))
                let echo = try JSONDocument(parsing: Array(body.utf8)).root
                #expect(echo["answer"]?.integer == 1)
                #expect(echo["method"]?.string == "POST")
                #expect(echo["target"]?.string == "/users/a%2Fb?x=%20+1")
                #expect(echo["body"]?.string == "hello")
                #expect(echo["time"]?.string == "2027-01-15T08:00:00Z")
            }
        }
    }

    @Test func `the server keeps a connection for many requests, also for pipelined ones`() async throws {
        try await withServer { server in
            try await PlainClient.with(port: server.port) { client in
                try await client.send((1...20).map { get("/\($0)") }.joined())
                for number in 1...20 {
                    #expect(try await client.readAnswer().body.contains(#""target":"/\#(number)""#))
                }
                try await client.send(get("/last", headers: "connection: close\r\n"))
                let end = try await client.readToEnd()
                #expect(end.contains("connection: close\r\n") && end.contains(#""answer":21"#))
            }
            #expect(server.traffic.requests == 21)
            #expect(server.traffic.connections == 1)
            #expect(server.traffic.mostRequestsAtOnce == 1)
            #expect(server.requests.map(\.target) == (1...20).map { "/\($0)" } + ["/last"])
        }
    }

    @Test func `the server answers over TLS`() async throws {
        let certificates = try Certificates()
        try await certificates.make("authority")
        try await certificates.make("server", signedBy: "authority")
        let tls = StubServer.TLS(certificates: certificates.path("server.pem"), key: certificates.path("server.key"))
        try await withServer(tls: tls) { server in
            #expect(server.url == "https://localhost:\(server.port)")
            try await PlainClient.with(port: server.port, authority: certificates.path("authority.pem")) { client in
                try await client.send(get("/secure"))
                #expect(try await client.readAnswer().body.contains(#""target":"/secure""#))
            }
            await #expect(throws: (any Error).self) {
                try await PlainClient.with(port: server.port, authority: certificates.path("server.pem")) { client in
                    try await client.send(get())
                    _ = try await client.readAnswer()
                }
            }
        }
    }

    @Test func `the server does not start with a missing certificate`() async {
        await #expect(throws: (any Error).self) {
            try await withServer(tls: StubServer.TLS(certificates: "/nowhere.pem", key: "/nowhere.key")) { _ in }
        }
    }

    @Test(arguments: [
        ("HEAD / HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n", "HTTP/1.1 200 OK"),
        ("GET / HTTP/1.0\r\n\r\n", "HTTP/1.1 200 OK"),
        ("this is no request\r\n\r\n", "HTTP/1.1 400 Bad Request"),
        ("GET / HTTP/1.1\r\nhost: h\r\ncontent-length: x\r\n\r\n", "HTTP/1.1 400 Bad Request"),
    ])
    func `the server ends the connection after the last request, and after a malformed one`(
        request: String, answer: String
    )
        async throws
    {
        try await withServer { server in
            try await PlainClient.with(port: server.port) { client in
                try await client.send(request)
                let all = try await client.readToEnd()
                #expect(all.hasPrefix(answer))
                if request.hasPrefix("HEAD") { #expect(all.hasSuffix("\r\n\r\n")) }
            }
        }
    }

    @Test func `the server answers 100 Continue to a client that asks before it sends a body`() async throws {
        try await withServer { server in
            try await PlainClient.with(port: server.port) { client in
                try await client.send(
                    "POST / HTTP/1.1\r\nhost: h\r\nexpect: 100-continue\r\ncontent-length: 2\r\n\r\n")
                #expect(try await client.read(through: "\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n")
                try await client.send("{}")
                #expect(try await client.readAnswer().body.contains(#""body":"{}""#))
            }
        }
    }

    @Test func `the server answers as another vendor once its stub is replaced`() async throws {
        struct Gone: VendorStub {
            mutating func answer(_ request: StubRequest, at time: UnixTime) -> StubResponse {
                StubResponse(status: 404, json: "{}")
            }
        }
        try await withServer { server in
            server.replace(Gone())
            try await PlainClient.with(port: server.port) { client in
                try await client.send(get())
                #expect(try await client.readAnswer().head.hasPrefix("HTTP/1.1 404 Not Found\r\n"))
            }
            #expect(server.requests.map(\.status) == [404])
        }
    }
}
