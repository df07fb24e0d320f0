import AdapterKit
import CertificateTestSupport
import Foundation
import HTTPTransport
import JOSE
import NIOCore
import NIOPosix
import Pipeline
import StubServer
import Testing
import VendorLookup
import WorkerTestSupport

@Suite(.timeLimit(.minutes(5))) struct LookupTLSTests {
    private func makeCertificates() async throws -> CertificateTestSupport.Certificates {
        let certificates = try CertificateTestSupport.Certificates()
        try await certificates.make("authority")
        try await certificates.make("localhost", signedBy: "authority")
        try await certificates.make("elsewhere", host: "vendor.example", signedBy: "authority")
        try await certificates.make("stranger")
        try await certificates.makeExpired("expired", signedBy: "authority")
        return certificates
    }

    /// Returns the result of a call to a server that shows `name`, and whether the server saw the call.
    private func ask(
        _ certificates: CertificateTestSupport.Certificates, _ name: String, authority: String?
    ) async throws -> (result: Result<LookupAnswer, LookupFailure>, requests: Int) {
        let tls = StubServer.TLS(certificates: certificates.path("\(name).pem"), key: certificates.path("\(name).key"))
        return try await StubServer.with(tls: tls) { server in
            let endpoint = LookupBench.endpoint(
                server, authorization: .key(scheme: "Bearer"), credentials: .key(SecretBytes(copying: "key".utf8)),
                authority: authority.map { certificates.path("\($0).pem") })
            return try await LookupBench.with([endpoint]) { bench in
                let result = try await bench.ask(bench.call())
                return (result, server.traffic.requests)
            }
        }
    }

    @Test func `the configured authority is trusted`() async throws {
        let certificates = try await makeCertificates()
        let (result, requests) = try await ask(certificates, "localhost", authority: "authority")
        #expect(result.status == 200)
        #expect(requests == 1)
    }

    @Test(arguments: [
        ("localhost", nil, "certificate_authority"), ("localhost", "stranger", "certificate_authority"),
        ("expired", "authority", "expired"), ("elsewhere", "authority", "for another host"),
    ])
    func `the client sends nothing to a server whose certificate it refuses, and names the remedy`(
        name: String, authority: String?, remedy: String
    ) async throws {
        let certificates = try await makeCertificates()
        let (result, requests) = try await ask(certificates, name, authority: authority)
        let failure = try #require(result.failure)
        #expect(failure.kind == .misconfigured)
        #expect(failure.detail.contains(remedy), "\(failure.detail)")
        #expect(failure.detail.hasPrefix("localhost:"))
        #expect(requests == 0)
    }

    @Test func `a server that does not speak TLS is a misconfiguration`() async throws {
        try await StubServer.with { server in
            let endpoint = LookupEndpoint(
                account: "shop", url: "https://localhost:\(server.port)", authorization: .mintedToken,
                credentials: .none, timeout: .seconds(240))
            try await LookupBench.with([endpoint]) { bench in
                let failure = try #require(await bench.ask(bench.call()).failure)
                #expect(failure.kind == .misconfigured)
                #expect(failure.detail.contains("TLS"))
            }
        }
    }

    @Test func `a handshake that nobody answers is given up`() async throws {
        let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(host: "127.0.0.1", port: 0).get()
        let endpoint = LookupEndpoint(
            account: "shop", url: "https://127.0.0.1:\(listener.localAddress?.port ?? 0)", authorization: .mintedToken,
            credentials: .none, timeout: .seconds(1))
        try await LookupBench.with([endpoint]) { bench in
            let reply = try await bench.ask(bench.call())
            #expect(reply.failure?.kind == .unavailable)
        }
        try await listener.close()
    }

    @Test func `the client does not start with an authority that cannot be read`() async throws {
        let certificates = try await makeCertificates()
        for path in ["/nowhere.pem", certificates.path("authority.key"), certificates.folder.path] {
            let error = #expect(throws: EndpointError.self) {
                try LookupClient(
                    [
                        LookupEndpoint(
                            account: "shop", url: "https://vendor.example", authorization: .mintedToken,
                            credentials: .none, timeout: .seconds(1), certificateAuthority: path)
                    ], signer: StubSigner(), logger: LookupBench.silent, now: { LookupBench.time })
            }
            #expect(error?.description.contains("certificate_authority") == true)
            #expect(error?.description.contains("shop") == true)
        }
    }
}
