import Foundation
import Kafka
import ProgramTestSupport
import Testing

extension GatewayScenarios {
    /// Tests of the requests of proxies, health checks and plain clients, with a gateway in a process of its own.
    @Suite(.timeLimit(.minutes(5))) struct PickupHTTPTests {
        /// Sends the bytes of a request and reads until the connection ends, or nothing came for two seconds
        /// after a first part.
        private static func exchange(_ gateway: Gateway, _ request: String) async throws -> String {
            let parts = gateway.address.split(separator: ":")
            let program = try await Program.run(
                "python3", ["-c", Self.client, String(parts[0]), String(parts[1])], input: Data(request.utf8))
            return program.outputText
        }

        private static let client = """
            import socket, sys
            connection = socket.create_connection((sys.argv[1], int(sys.argv[2])), 60)
            try:
                connection.sendall(sys.stdin.buffer.read())
                while True:
                    data = connection.recv(65536)
                    if not data: break
                    sys.stdout.buffer.write(data)
                    connection.settimeout(2)
            except OSError: pass
            """

        @Test func `every rule of HTTP holds over a connection`() async throws {
            let shop = try await Shop.open()
            try await shop.startWorker()
            let gateway = try await Gateway.start(shop)
            let session = try gateway.session("ann")
            let token = "/v1/apps/onesignal-shop/token"
            let key = "X-Api-Key: \(Gateway.apiKey)\r\nRemint-Vouched: {\"user\":\"ann\"}\r\n"
            let report = "POST /v1/apps/onesignal-shop/reports HTTP/1.1\r\nHost: a\r\n\(key)"

            // HEAD, wherever there is GET: same head, no body.
            for path in [
                "/health/live", "/health/ready", "/openapi.json", "/remint.js", "/remint.mjs", "/remint.d.mts", token,
            ] {
                let get = try await gateway.call(path, session: session)
                let head = try await gateway.call(path, method: "HEAD", session: session)
                #expect(head.status == get.status && head.text.isEmpty, "\(path)")
                #expect(head.headers["content-type"] == get.headers["content-type"])
                #expect(head.headers["etag"] == get.headers["etag"])
                if path != token { #expect(head.headers["content-length"] == get.headers["content-length"], "\(path)") }
            }
            let stream = try await Self.exchange(
                gateway,
                "HEAD \(token)/stream HTTP/1.1\r\nHost: a\r\n\(key)\r\nGET /health/live HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(stream.hasPrefix("HTTP/1.1 200 OK\r\n") && stream.contains("text/event-stream"), "\(stream)")
            #expect(stream.hasSuffix(#"{"status":"alive"}"#), "the connection goes on: \(stream)")
            let elsewhere = try await Self.exchange(
                gateway, "HEAD /v1/apps/onesignal-shop/reports HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            #expect(elsewhere.hasPrefix("HTTP/1.1 405 ") && elsewhere.hasSuffix("\r\n\r\n"), "\(elsewhere)")
            #expect(elsewhere.lowercased().contains("allow: post, options"))
            for (target, allowed) in [
                ("*", "get, head, options, post"), (token, "get, head, options"),
                ("/v1/apps/onesignal-shop/reports", "post, options"),
            ] {
                let options = try await Self.exchange(
                    gateway, "OPTIONS \(target) HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
                #expect(options.hasPrefix("HTTP/1.1 204 "), "\(options)")
                #expect(options.lowercased().contains("allow: \(allowed)\r\n"), "\(options)")
            }
            let stranger = try await Self.exchange(
                gateway,
                "POST /v1/apps/onesignal-shop/reports HTTP/1.1\r\nHost: a\r\nX-Api-Key: \(String(repeating: "k", count: 40))\r\n"
                    + "Expect: 100-continue\r\nContent-Length: 2\r\n\r\n")
            #expect(stranger.hasPrefix("HTTP/1.1 401 "), "no body is asked for: \(stranger)")
            #expect(stranger.contains(#""code":"invalid_api_key""#), "\(stranger)")

            // A tag that a proxy made weak, in a list.
            let tag = try #require(try await gateway.call(token, session: session).headers["etag"])
            for known in ["W/\(tag)", "\"1\", W/\(tag)", tag, "*"] {
                let answer = try await gateway.call(token, session: session, headers: ["If-None-Match": known])
                #expect(answer.status == 304, "\(known)")
            }

            // Bodies that are compressed, too large, or announced.
            let coded = try await Self.exchange(
                gateway, "\(report)Content-Encoding: gzip\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}")
            #expect(
                coded.hasPrefix("HTTP/1.1 415 ") && coded.lowercased().contains("accept-encoding: identity"), "\(coded)"
            )
            let announced = try await Self.exchange(
                gateway, "\(report)Expect: 100-continue\r\nContent-Length: 20000000\r\n\r\n")
            #expect(announced.hasPrefix("HTTP/1.1 413 "), "\(announced)")
            let waiting = try #require(RawConnection.open(to: gateway.address))
            let body = #"{"externalId":"ann"}"#
            RawConnection.send(
                Array(
                    "\(report)Prefer: wait=20\r\nExpect: 100-continue\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
                        .utf8),
                over: waiting)
            let continuing = RawConnection.receive(from: waiting) { $0.contains("\r\n\r\n") }
            #expect(continuing == "HTTP/1.1 100 Continue\r\n\r\n")
            RawConnection.send(Array(body.utf8), over: waiting)
            let expected = RawConnection.receive(from: waiting) { $0.contains("\r\n\r\n") }
            #expect(expected.hasPrefix("HTTP/1.1 20"), "\(expected)")
            close(waiting)

            // Heads that are refused.
            let large = String(repeating: "x", count: 20_000)
            for (request, status) in [
                ("GET /health/live HTTP/1.1\r\n\r\n", "400"),
                ("GET /health/live HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "400"),
                ("GET /health/live HTTP/1.1\r\nHost: a\r\nX-Large: \(large)\r\n\r\n", "431"),
                ("GET /health/live HTTP/1.1\r\nHost: a\r\nExpect: cake\r\n\r\n", "417"),
                ("POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", "501"),
                ("POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: identity\r\n\r\n", "400"),
                ("POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, gzip\r\n\r\n", "400"),
                (
                    "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
                    "400"
                ),
                ("\(report)Transfer-Encoding: chunked\r\n\r\nnonsense\r\n", "400"),
                ("GET /\(large) HTTP/1.1\r\nHost: a\r\n\r\n", "414"),
                ("GET /health/live HTTP/1.1\r\nHost:\r\n\r\n", "400"),
                ("GET /health/live HTTP/1.1\r\nHost: a b\r\n\r\n", "400"),
                ("GET /health/live HTTP/1.1\nHost: a\n\n", "400"), ("BREW / HTTP/1.1\r\nHost: a\r\n\r\n", "501"),
                ("CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n", "501"),
                ("GET /health/live HTTP/3.0\r\nHost: a\r\n\r\n", "505"), ("nonsense\r\n\r\n", "400"),
            ] {
                let answer = try await Self.exchange(gateway, request)
                #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(request.prefix(60)): \(answer)")
                #expect(answer.contains("application/problem+json") && answer.lowercased().contains("\r\ndate: "))
            }

            // Requests that do not wait for answers.
            let held = try #require(try await gateway.call(token, session: session).headers["etag"]).filter(\.isNumber)
            let behind = try await Self.exchange(
                gateway,
                "GET \(token)?after=\(held)&wait=1 HTTP/1.1\r\nHost: a\r\n\(key)\r\nnonsense\r\n\r\n")
            #expect(behind.hasPrefix("HTTP/1.1 204 "), "a call that waits is answered: \(behind)")
            #expect(behind.components(separatedBy: "HTTP/1.1 400 ").count == 2, "and then the other: \(behind)")

            // HTTP/1.0, with the connection's end and without.
            let old = try await Self.exchange(gateway, "GET /health/live HTTP/1.0\r\n\r\n")
            #expect(old.hasPrefix("HTTP/1.0 200 OK\r\n") && old.hasSuffix(#"{"status":"alive"}"#), "\(old)")
            let kept = try await Self.exchange(
                gateway, String(repeating: "GET /health/live HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", count: 2))
            #expect(kept.components(separatedBy: "HTTP/1.0 200 OK").count == 3, "\(kept)")
            let chunkless = try await Self.exchange(gateway, "GET \(token)/stream HTTP/1.0\r\n\(key)\r\n")
            #expect(!chunkless.lowercased().contains("chunked") && chunkless.contains("event: ready"), "\(chunkless)")

            // A client that would speak HTTP/2 is answered, and comes back over another connection.
            let upgrade = try await Self.exchange(
                gateway,
                "GET /health/live HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: x\r\n\r\n"
            )
            #expect(
                upgrade.hasPrefix("HTTP/1.1 200 ") && upgrade.lowercased().contains("connection: close"), "\(upgrade)")
            await shop.close(expecting: 0)
        }

        @Test func `curl, wget and nginx lose no call`() async throws {
            let shop = try await Shop.open()
            try await shop.startWorker()
            let gateway = try await Gateway.start(shop)
            let calls = ProcessInfo.processInfo.environment["REMINT_TEST_CALLS"] ?? "100"
            let clients = try await Program.run(
                "python3",
                [
                    Repository.root.appending(path: "Tests/Benchmarks/clients.py").path, "--url",
                    "http://\(gateway.address)", "--app", "onesignal-shop", "--session", try gateway.session("ann"),
                    "--calls", calls,
                ])
            // What is not on this machine is left out.
            #expect(clients.status == 0, "\(clients.outputText) \(clients.errorText)")
            #expect(clients.outputText.contains("lost: 0"))
            if ProcessInfo.processInfo.environment["REMINT_TEST_CALLS"] != nil { print(clients.outputText) }
            await shop.close()
        }
    }
}
