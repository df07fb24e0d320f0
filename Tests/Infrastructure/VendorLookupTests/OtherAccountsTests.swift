import AdapterKit
import AsyncTestSupport
import HTTPTransport
import StubServer
import Testing
import VendorLookup

@testable import Pipeline

/// Accounts that are replaced while a client asks.
@Suite(.timeLimit(.minutes(5))) struct OtherAccountsTests {
    @Test func `an account that is kept keeps its connections, and one that is gone loses them`() async throws {
        try await StubServer.with { kept in
            try await StubServer.with { gone in
                let endpoints = [LookupBench.endpoint(kept, account: "a"), LookupBench.endpoint(gone, account: "b")]
                try await LookupBench.with(endpoints) { bench in
                    for account in ["a", "b"] {
                        #expect(try await bench.ask(bench.call(account: account)).answer?.response.status == 200)
                    }
                    let renamed = [LookupBench.endpoint(kept, account: "z")]
                    bench.client.replaceAccounts(with: try LookupAccounts(renamed, keeping: ["z": "a"]))
                    #expect(try await bench.ask(bench.call(account: "z")).answer?.response.status == 200)
                    #expect(kept.traffic.connections == 1)
                    try await eventually("the end of its connections") { gone.traffic.openConnections == 0 }
                    let unknown = try await bench.ask(bench.call(account: "b"))
                    #expect(unknown.failure?.kind == .misconfigured)
                }
            }
        }
    }

    @Test func `calls to an account that is removed still get replies`() async throws {
        try await StubServer.with(RecordingVendor(), .silence) { silent in
            try await StubServer.with { other in
                let first = LookupBench.endpoint(silent, timeout: .milliseconds(300), concurrency: 1)
                try await LookupBench.with([first]) { bench in
                    let calls = (0..<5).map { _ in bench.call() }
                    bench.client.ask(calls)
                    bench.client.replaceAccounts(with: try LookupAccounts([LookupBench.endpoint(other)]))
                    let last = bench.call()
                    bench.client.ask([last])
                    let replies = await bench.replies(6)
                    #expect(Set(replies.map(\.id)) == Set(calls.map(\.id) + [last.id]))
                    #expect(replies.first { $0.id == last.id }?.result.answer?.response.status == 200)
                    try await eventually("the end of its connections") { silent.traffic.openConnections == 0 }
                }
            }
        }
    }

    @Test func `an account that cannot be used is refused before any is replaced`() async throws {
        try await StubServer.with { server in
            let broken = LookupEndpoint(
                account: "b", url: "nowhere", authorization: .mintedToken, credentials: .none, timeout: .seconds(1))
            #expect(throws: EndpointError.self) { try LookupAccounts([broken]) }
            let twice = LookupBench.endpoint(server)
            #expect(throws: EndpointError.self) { try LookupAccounts([twice, twice]) }
        }
    }
}
