import AdapterKit
import StubServer
import Testing

@Suite(.timeLimit(.minutes(5))) struct StoppingTests {
    @Test(arguments: [
        Misbehaviour.none, .silence, .slowLoris, .slowHead, .latency(.seconds(3600)),
        .oversized(bytes: 1 << 30, declared: false),
    ])
    func `the server stops with a client on the line`(misbehaviour: Misbehaviour) async throws {
        try await withServer(misbehaviour) { server in
            try await PlainClient.with(port: server.port) { client in
                try await client.send(get())
                try await server.waitForRequests(1)
                #expect(server.traffic.openConnections == 1)
                await server.stop()
                #expect(server.traffic.openConnections == 0)
                #expect(server.traffic.openRequests == 0)
                // Whether it is an end or a reset depends on what was on its way.
                _ = try? await client.readToEnd()
            }
            await #expect(throws: (any Error).self) { try await PlainClient.with(port: server.port) { _ in } }
        }
    }

    @Test func `the server counts the requests that wait at one time`() async throws {
        try await withServer(.silence) { server in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 1...5 {
                    group.addTask {
                        try await PlainClient.with(port: server.port) { client in
                            try await client.send(get())
                            _ = try await client.readToEnd()
                        }
                    }
                }
                try await server.waitForRequests(5)
                #expect(server.traffic.openRequests == 5)
                #expect(server.traffic.mostRequestsAtOnce == 5)
                await server.stop()
                group.cancelAll()
                while await group.nextResult() != nil {}
            }
            #expect(server.traffic.openRequests == 0)
            #expect(server.requests.allSatisfy { $0.status == nil && $0.time == UnixTime(seconds: 1_800_000_000) })
        }
    }

    @Test func `the wait for a request ends with its task`() async throws {
        try await withServer { server in
            let waiting = Task { try await server.waitForRequests(1) }
            waiting.cancel()
            await #expect(throws: CancellationError.self) { try await waiting.value }
        }
    }
}
