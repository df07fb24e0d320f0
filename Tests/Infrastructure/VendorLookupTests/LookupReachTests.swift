import AdapterKit
import CertificateTestSupport
import HTTPTransport
import JOSE
import StubServer
import Testing
import VendorLookup
import WorkerTestSupport

@Suite(.timeLimit(.minutes(5))) struct LookupReachTests {
    @Test(arguments: [200, 401, 404, 503])
    func `any answer shows that the endpoint is reachable, and no credential is sent`(status: Int)
        async throws
    {
        let vendor = RecordingVendor { _ in StubResponse(status: status, json: "{}") }
        try await StubServer.with(vendor) { server in
            let endpoint = LookupBench.endpoint(
                server, path: "/base", authorization: .key(scheme: "Bearer"),
                credentials: .key(SecretBytes(copying: "key".utf8)))
            let answered = try await endpoint.reach(within: patience)
            #expect(answered == status)
        }
        #expect(vendor.requests.map(\.target) == ["/base/"])
        #expect(vendor.requests.allSatisfy { $0.headers.allSatisfy { $0.name.lowercased() != "authorization" } })
    }

    @Test func `the check does not wait for the body's end`() async throws {
        try await StubServer.with(RecordingVendor(), .truncated) { server in
            let status = try await LookupBench.endpoint(server).reach(within: patience)
            #expect(status == 200)
        }
    }

    @Test func `the check's error names the reason for no answer`() async throws {
        try await StubServer.with(RecordingVendor(), .silence) { server in
            let error = await #expect(throws: EndpointError.self) {
                try await LookupBench.endpoint(server).reach(within: .milliseconds(300))
            }
            #expect(error?.description == "127.0.0.1:\(server.port): no answer within 300 ms")
        }
        let port = try #require(DeafPort())
        let endpoint = LookupEndpoint(
            account: "shop", url: "http://127.0.0.1:\(port.number)", authorization: .mintedToken, credentials: .none,
            timeout: patience)
        let error = await #expect(throws: EndpointError.self) { try await endpoint.reach(within: patience) }
        #expect(error?.description == "127.0.0.1:\(port.number): the connection is refused")
    }

    @Test func `the check's error about TLS names certificate_authority`() async throws {
        let certificates = try CertificateTestSupport.Certificates()
        try await certificates.make("authority")
        try await certificates.make("localhost", signedBy: "authority")
        let tls = StubServer.TLS(
            certificates: certificates.path("localhost.pem"), key: certificates.path("localhost.key"))
        try await StubServer.with(tls: tls) { server in
            let trusted = LookupBench.endpoint(server, authority: certificates.path("authority.pem"))
            let status = try await trusted.reach(within: patience)
            #expect(status == 200)
            let error = await #expect(throws: EndpointError.self) {
                try await LookupBench.endpoint(server).reach(within: patience)
            }
            #expect(error?.description.contains("certificate_authority") == true)
        }
    }
}
