import Foundation
import Kafka
import ProgramTestSupport
import Testing

extension GatewayScenarios {
    /// Tests of the requests of proxies, health checks and plain clients, with a gateway in a process of its own.
    @Suite(.timeLimit(.minutes(5))) struct PickupHTTPTests {
        @Test func `HEAD and OPTIONS are answered wherever there is a path, and a body only where asked for`()
            async throws
        {
            let shop = try await Shop.open()
            try await shop.startWorker()
            let gateway = try await Gateway.start(shop)
            let session = try gateway.session("ann")
            let token = "/v1/apps/onesignal-shop/token", reports = "/v1/apps/onesignal-shop/reports"
            let key = "X-Api-Key: \(Gateway.apiKey)\r\nRemint-Vouched: {\"user\":\"ann\"}"
            func exchange(_ head: String, _ body: String = "") async -> String {
                let request = "\(head)\r\nHost: a\r\nConnection: close\r\n\r\n\(body)"
                return await RawConnection.exchange(Array(request.utf8), with: gateway.address)
            }
            for path in [
                "/health/live", "/health/ready", "/openapi.json", "/remint.js", "/remint.mjs", "/remint.d.mts", token,
            ] {
                let get = try await gateway.call(path, session: session)
                let head = try await gateway.call(path, method: "HEAD", session: session)
                #expect(head.status == get.status && head.text.isEmpty, "\(path)")
                for name in ["content-type", "etag", path == token ? "" : "content-length"] {
                    #expect(head.headers[name] == get.headers[name], "\(path): \(name)")
                }
            }
            let stream = await exchange("HEAD \(token)/stream HTTP/1.1\r\n\(key)")
            #expect(stream.hasPrefix("HTTP/1.1 200 OK\r\n") && stream.contains("text/event-stream"), "\(stream)")
            for (call, status, field) in [
                ("HEAD \(reports)", "405", "allow: post, options\r\n"),
                ("OPTIONS *", "204", "allow: get, head, options, post\r\n"),
                ("OPTIONS \(token)", "204", "allow: get, head, options\r\n"),
                ("OPTIONS \(reports)", "204", "allow: post, options\r\n"),
            ] {
                let answer = await exchange("\(call) HTTP/1.1")
                #expect(answer.hasPrefix("HTTP/1.1 \(status) ") && answer.lowercased().contains(field), "\(answer)")
            }
            let report = "POST \(reports) HTTP/1.1\r\n"
            let strangersKey = "X-Api-Key: \(String(repeating: "k", count: 40))"
            for (fields, status) in [
                ("\(strangersKey)\r\nExpect: 100-continue\r\nContent-Length: 2", "401"),
                ("\(key)\r\nContent-Encoding: gzip\r\nContent-Length: 2", "415"),
                ("\(key)\r\nExpect: 100-continue\r\nContent-Length: 20000000", "413"),
            ] {
                let answer = await exchange(report + fields, status == "415" ? "{}" : "")
                #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(answer)")
            }
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
