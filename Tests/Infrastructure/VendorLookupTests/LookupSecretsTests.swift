import AdapterKit
import AsyncTestSupport
import HTTPTransport
import JOSE
import Logging
import StubServer
import Testing
import VendorLookup
import WorkerTestSupport

@testable import Pipeline

@Suite(.timeLimit(.minutes(5))) struct LookupSecretsTests {
    private static let canary = "canary-7f3a"
    /// As a user name and a password go over the wire.
    private static let encoded = Base64.standard.encode(Array("\(canary):\(canary)".utf8))

    private func isSilent(_ text: String) -> Bool {
        !text.contains(Self.canary) && !text.contains(Self.encoded) && !text.contains("c2lnbmF0dXJl")
    }

    private var secret: SecretBytes { SecretBytes(copying: Self.canary.utf8) }

    private func endpoints(_ server: StubServer) -> [LookupEndpoint] {
        [
            LookupBench.endpoint(
                server, account: "key", authorization: .key(scheme: "Bearer"), credentials: .key(secret),
                timeout: .milliseconds(800)),
            LookupBench.endpoint(
                server, account: "basic", authorization: .basic,
                credentials: .basic(user: Self.canary, password: secret), timeout: .milliseconds(800)),
            LookupBench.endpoint(server, account: "bearer", timeout: .milliseconds(800)),
        ]
    }

    @Test func `credentials are never printed or dumped`() async throws {
        try await StubServer.with { server in
            let endpoints = endpoints(server)
            let client = try LookupClient(
                endpoints, signer: StubSigner(), logger: LookupBench.silent, now: { LookupBench.time })
            let things: [Any] = endpoints.map { $0 } + endpoints.map(\.credentials) + [endpoints, client]
            for thing in things {
                var dumped = ""
                dump(thing, to: &dumped)
                #expect(isSilent("\(thing) \(String(reflecting: thing)) \(dumped)"))
            }
            #expect("\(endpoints[1].credentials)" == "a user name and a password")
            #expect("\(client)" == "the look-ups of basic, bearer, key")
        }
    }

    @Test func `log lines and failures have no credentials, users or requests`() async throws {
        let log = RecordingLog()
        let bearer = SigningRequest(
            key: SigningKeyReference(ring: "r", version: "k", keyID: nil, algorithm: .hs256, retireAfter: nil),
            input: SigningInput(encodedHeader: Array("e30".utf8), payload: Array(Self.canary.utf8)))
        let faults: [Misbehaviour] = [
            .none, .silence, .hangUp, .reset, .truncated, .garbage, .oversized, .oversizedHead(bytes: 3 << 20),
            .status(401), .redirect(to: "http://127.0.0.1:1/\(Self.canary)"),
        ]
        try await StubServer.with { server in
            for fault in faults {
                server.misbehaviour = fault
                try await LookupBench.with(endpoints(server), logger: log.logger(.trace)) { bench in
                    let path = "/users/\(Self.canary)?user=\(Self.canary)"
                    bench.client.ask([
                        bench.call(path, account: "key"), bench.call(path, account: "basic", body: Self.canary),
                        bench.call(path, account: "bearer", bearer: bearer),
                    ])
                    for reply in await bench.replies(3) {
                        #expect(isSilent(reply.result.failure?.detail ?? ""))
                    }
                }
            }
            await server.stop()
            try await LookupBench.with(endpoints(server), logger: log.logger(.trace)) { bench in
                let failure = try #require(
                    await bench.ask(bench.call("/\(Self.canary) \(Self.canary)", account: "key")).failure)
                #expect(isSilent(failure.detail))
                let refused = try #require(
                    await bench.ask(bench.call("/\(Self.canary)", account: "key")).failure)
                #expect(isSilent(refused.detail))
            }
        }
        #expect(log.lines.contains { $0.event == "lookup.unanswered" })
        #expect(log.lines.allSatisfy { isSilent("\($0)") })
    }

    @Test(arguments: [
        (LookupTerms.Authorization.key(scheme: "Bearer"), LookupEndpoint.Credentials.none),
        (.basic, .none),
        (.basic, .key(SecretBytes(copying: "canary-7f3a".utf8))),
        (.key(scheme: "Bearer"), .basic(user: "canary-7f3a", password: SecretBytes(copying: "canary-7f3a".utf8))),
        (.key(scheme: "Bearer"), .key(SecretBytes(copying: "".utf8))),
        (.key(scheme: "Bearer"), .key(SecretBytes(copying: "canary-7f3a\n".utf8))),
        (.key(scheme: "Bearer"), .key(SecretBytes(copying: "canary-7f3a x".utf8))),
        (.key(scheme: "Bearer"), .key(SecretBytes(copying: "canary-7f3aé".utf8))),
        (.basic, .basic(user: "canary-7f3a:", password: SecretBytes(copying: "canary-7f3a".utf8))),
        (.basic, .basic(user: "", password: SecretBytes(copying: "canary-7f3a".utf8))),
    ])
    func `credentials that cannot be sent are refused without repeating them`(
        authorization: LookupTerms.Authorization, credentials: LookupEndpoint.Credentials
    ) throws {
        let endpoint = LookupEndpoint(
            account: "shop", url: "https://vendor.example", authorization: authorization, credentials: credentials,
            timeout: .seconds(1))
        let error = #expect(throws: EndpointError.self) {
            try LookupClient([endpoint], signer: StubSigner(), logger: LookupBench.silent, now: { LookupBench.time })
        }
        #expect(error.map { isSilent($0.description) && $0.description.contains("shop") } == true)
    }
}
