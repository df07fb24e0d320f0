import AdapterKit
import AsyncTestSupport
import StubServer
import Testing
import VendorLookup
import WorkerTestSupport

@testable import Pipeline

@Suite(.timeLimit(.minutes(5))) struct LookupLimitsTests {
    @Test(arguments: [1, 3]) func `the client asks no more questions at a time than its concurrency`(concurrency: Int)
        async throws
    {
        try await StubServer.with(RecordingVendor(), .latency(.milliseconds(5))) { server in
            try await LookupBench.with([LookupBench.endpoint(server, concurrency: concurrency)]) { bench in
                let calls = (1...20).map { bench.call("/users/\($0)") }
                bench.client.ask(calls)
                let replies = await bench.replies(20)
                #expect(replies.allSatisfy { $0.result.status == 200 })
                #expect(Set(replies.map(\.id)) == Set(calls.map(\.id)))
            }
            #expect(server.traffic.mostRequestsAtOnce <= concurrency)
            #expect(server.traffic.connections <= concurrency)
            if concurrency == 1 { #expect(server.requests.map(\.target) == (1...20).map { "/users/\($0)" }) }
        }
    }

    @Test(arguments: [1, 3, 20]) func `the client asks as many questions at a time as its concurrency`(concurrency: Int)
        async throws
    {
        try await StubServer.with(RecordingVendor(), .silence) { server in
            try await LookupBench.with([LookupBench.endpoint(server, concurrency: concurrency)]) { bench in
                bench.client.ask((1...20).map { _ in bench.call() })
                try await server.waitForRequests(concurrency)
                #expect(server.traffic.openRequests == concurrency)
            }
        }
    }

    @Test func `no account waits for another`() async throws {
        try await StubServer.with(RecordingVendor(), .silence) { slow in
            try await StubServer.with { fast in
                let endpoints = [
                    LookupBench.endpoint(slow, account: "slow", timeout: .seconds(3600), concurrency: 2),
                    LookupBench.endpoint(fast, account: "fast", concurrency: 2),
                ]
                try await LookupBench.with(endpoints) { bench in
                    let stuck = (1...50).map { _ in bench.call(account: "slow") }
                    let quick = (1...50).map { _ in bench.call(account: "fast") }
                    bench.client.ask(stuck)
                    try await slow.waitForRequests(2)
                    bench.client.ask(quick)
                    let replies = await bench.replies(50)
                    #expect(Set(replies.map(\.id)) == Set(quick.map(\.id)))
                    #expect(slow.traffic.requests == 2)
                }
            }
        }
    }

    @Test func `the time of a call counts from when it is asked for, even if it never gets its turn`() async throws {
        try await StubServer.with(RecordingVendor(), .silence) { server in
            let endpoint = LookupBench.endpoint(server, timeout: .seconds(1), concurrency: 1)
            try await LookupBench.with([endpoint]) { bench in
                let start = ContinuousClock.now
                bench.client.ask((1...900).map { _ in bench.call() })
                let replies = await bench.replies(900)
                // One after the other they would take fifteen minutes.
                #expect(.now - start >= .seconds(1) && .now - start < .seconds(240))
                #expect(replies.count == 900 && replies.allSatisfy { $0.result.failure?.kind == .unavailable })
            }
        }
    }

    @Test func `the client answers in time even if the signer hangs`() async throws {
        let (stream, continuation) = AsyncStream<Void>.makeStream()
        try await StubServer.with { server in
            let endpoint = LookupBench.endpoint(server, timeout: .seconds(1), concurrency: 1)
            try await LookupBench.with([endpoint], signer: StubSigner(way: .hangs(stream))) { bench in
                let bearer = SigningRequest(
                    key: SigningKeyReference(ring: "r", version: "k", keyID: nil, algorithm: .hs256, retireAfter: nil),
                    input: SigningInput(bytes: Array("e30.e30".utf8)))
                bench.client.ask([bench.call(bearer: bearer), bench.call(bearer: bearer)])
                #expect(await bench.replies(2).allSatisfy { $0.result.failure?.kind == .unavailable })
                continuation.finish()
                // The call that hung gives its place back; how soon is the machine's affair.
                try await eventually("an answer") { try await bench.ask(bench.call()).status == 200 }
            }
        }
    }

    @Test(arguments: [(1000, 200), (1001, nil)] as [(Int, Int?)])
    func `a body up to the limit is read, and a longer one is not`(bytes: Int, status: Int?) async throws {
        let vendor = RecordingVendor { _ in StubResponse(status: 200, body: [UInt8](repeating: 0x20, count: bytes)) }
        try await StubServer.with(vendor) { server in
            try await LookupBench.with([LookupBench.endpoint(server)], maximumBodyBytes: 1000) { bench in
                let reply = try await bench.ask(bench.call())
                #expect(reply.status == status)
            }
        }
    }
}
