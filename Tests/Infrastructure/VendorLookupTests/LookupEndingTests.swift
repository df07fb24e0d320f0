import AdapterKit
import AsyncTestSupport
import StubServer
import Testing
import VendorLookup
import WorkerTestSupport

@testable import Pipeline

@Suite(.timeLimit(.minutes(5))) struct LookupEndingTests {
    private func client(_ endpoints: [LookupEndpoint]) throws -> LookupClient {
        try LookupClient(
            endpoints, signer: StubSigner(), logger: LookupBench.silent, now: { LookupBench.time })
    }

    private func call(_ id: Int, account: String = "shop") -> LookupCall {
        LookupCall(
            id: id, account: account, request: LookupRequest(method: .get, path: "/", subjects: 0..<1), bearer: nil)
    }

    @Test(arguments: [Misbehaviour.silence, .slowLoris, .slowHead, .oversized(bytes: 4 << 30, declared: false)])
    func `a canceled client ends at once, with a reply to every call`(misbehaviour: Misbehaviour) async throws {
        try await StubServer.with(RecordingVendor(), misbehaviour) { server in
            let client = try LookupClient(
                [LookupBench.endpoint(server, timeout: .seconds(3600), concurrency: 3)], signer: StubSigner(),
                maximumBodyBytes: .max, logger: LookupBench.silent, now: { LookupBench.time })
            client.ask((1...20).map { call($0) })
            let running = Task { await client.run() }
            try await server.waitForRequests(3)
            let start = ContinuousClock.now
            running.cancel()
            await running.value
            #expect(.now - start < .seconds(240))
            let replies = client.takeReplies()
            #expect(replies.map(\.id).sorted() == Array(1...20))
            #expect(replies.allSatisfy { $0.result.failure?.kind == .unavailable })
            #expect(client.takeReplies().isEmpty)
        }
    }

    @Test func `calls asked before the client runs are answered, and calls after its end fail`() async throws {
        try await StubServer.with { server in
            let client = try client([LookupBench.endpoint(server)])
            let (stream, continuation) = AsyncStream<Void>.makeStream()
            client.onReply { continuation.yield() }
            client.ask([call(1)])
            #expect(client.takeReplies().isEmpty)
            let running = Task { await client.run() }
            var signals = stream.makeAsyncIterator()
            await signals.next()
            #expect(client.takeReplies().map(\.result.status) == [200])
            running.cancel()
            await running.value
            client.ask([call(2), call(3)])
            await signals.next()
            #expect(client.takeReplies().map(\.result.failure?.kind) == [.unavailable, .unavailable])
            #expect(server.traffic.requests == 1)
            try await eventually("the end of the connections") { server.traffic.openConnections == 0 }
        }
    }

    @Test func `calls asked before the client was canceled get replies, even if it never ran`() async throws {
        let client = try client([
            LookupEndpoint(
                account: "shop", url: "http://127.0.0.1:1", authorization: .mintedToken, credentials: .none,
                timeout: .seconds(3600))
        ])
        client.ask((1...100).map { call($0) })
        let running = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            await client.run()
        }
        await running.value
        #expect(client.takeReplies().map(\.id).sorted() == Array(1...100))
    }

    @Test func `a call asked for twice is made once`() async throws {
        try await StubServer.with { server in
            let client = try client([LookupBench.endpoint(server)])
            client.ask([call(1), call(1)])
            client.ask([call(1)])
            let running = Task { await client.run() }
            try await server.waitForRequests(1)
            running.cancel()
            await running.value
            #expect(client.takeReplies().map(\.id) == [1])
            #expect(server.traffic.requests == 1)
        }
    }

    @Test func `the callback is called at once if replies wait already`() async throws {
        let client = try client([])
        client.ask([call(1, account: "unknown")])
        let (stream, continuation) = AsyncStream<Void>.makeStream()
        client.onReply { continuation.yield() }
        var signals = stream.makeAsyncIterator()
        await signals.next()
        #expect(client.takeReplies().count == 1)
    }

    @Test func `every call gets exactly one reply under every fault, up to the client's end`() async throws {
        var random = SeededGenerator(seed: 23)
        let faults: [Misbehaviour] = [
            .none, .status(500), .throttled(retryAfter: 1), .hangUp, .reset, .truncated, .truncatedChunks, .garbage,
            .latency(.milliseconds(5)), .slowLoris(every: .milliseconds(1)), .silence, .webPage,
        ]
        try await StubServer.with { server in
            let client = try client([
                LookupBench.endpoint(server, timeout: .milliseconds(500), concurrency: 7)
            ])
            let (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
            client.onReply { continuation.yield() }
            var signals = stream.makeAsyncIterator()
            let running = Task { await client.run() }
            var seen: [Int] = []
            var asked = 0
            for _ in 1...40 {
                server.misbehave(faults[Int.random(in: 0..<faults.count, using: &random)], for: 5)
                let ids = asked + 1...asked + Int.random(in: 1...12, using: &random)
                asked = ids.upperBound
                client.ask(ids.map { call($0) })
                await signals.next()
                seen += client.takeReplies().map(\.id)
            }
            running.cancel()
            await running.value
            seen += client.takeReplies().map(\.id)
            #expect(seen.sorted() == Array(1...asked))
        }
    }
}
