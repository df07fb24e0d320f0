import AdapterKit
import JOSE
import StubServer
import Testing
import VendorLookup

@testable import Pipeline

@Suite(.timeLimit(.minutes(5))) struct LookupRequestTests {
    private func secret(_ text: String) -> SecretBytes { SecretBytes(copying: text.utf8) }

    private func bearer(_ payload: String = "{}") -> SigningRequest {
        SigningRequest(
            key: SigningKeyReference(ring: "r", version: "k", keyID: nil, algorithm: .hs256, retireAfter: nil),
            input: SigningInput(encodedHeader: Array("e30".utf8), payload: Array(payload.utf8)))
    }

    @Test(
        arguments: ["", "/", "/base", "/base/v2/"],
        [
            "/users/1", "/users/a%2Fb%20c%25/identity?x=%26&y=+z", "/", "/?", "//double//slash",
            "/a/../b;c=d,e:@!$&'()*",
            "/%E2%82%AC",
        ])
    func `path and query are sent unchanged, below the endpoint's own path`(base: String, path: String) async throws {
        let vendor = RecordingVendor()
        try await StubServer.with(vendor) { server in
            try await LookupBench.with([LookupBench.endpoint(server, path: base)]) { bench in
                let reply = try await bench.ask(bench.call(path))
                #expect(reply.status == 200)
            }
        }
        let trimmed = base.hasSuffix("/") ? String(base.dropLast()) : base
        #expect(vendor.requests.map(\.target) == [trimmed + path])
    }

    @Test func `the request has the method and headers that vendors document`() async throws {
        let vendor = RecordingVendor()
        try await StubServer.with(vendor) { server in
            try await LookupBench.with([LookupBench.endpoint(server)]) { bench in
                _ = try await bench.ask(bench.call())
                _ = try await bench.ask(bench.call(body: #"{"a":1}"#))
            }
        }
        try #require(vendor.requests.count == 2)
        for request in vendor.requests {
            #expect(request.header("user-agent") == "remint")
            #expect(request.header("accept") == "application/json")
            #expect(request.header("accept-encoding") == "identity")
            #expect(request.header("host")?.hasPrefix("127.0.0.1:") == true)
            #expect(request.header("authorization") == nil)
        }
        #expect(vendor.requests[0].method == "GET")
        #expect(vendor.requests[0].header("content-type") == nil)
        #expect(vendor.requests[1].method == "POST")
        #expect(vendor.requests[1].header("content-type") == "application/json")
        #expect(vendor.requests[1].header("content-length") == "7")
        #expect(vendor.requests[1].body == Array(#"{"a":1}"#.utf8))
    }

    @Test(arguments: [("Bearer", "Bearer k-1"), ("Key", "Key k-1"), ("App", "App k-1")])
    func `the client authorizes with an API key`(scheme: String, header: String) async throws {
        let vendor = RecordingVendor()
        try await StubServer.with(vendor) { server in
            let endpoint = LookupBench.endpoint(
                server, authorization: .key(scheme: scheme), credentials: .key(secret("k-1")))
            try await LookupBench.with([endpoint]) { bench in _ = try await bench.ask(bench.call()) }
        }
        #expect(vendor.requests.map { $0.header("authorization") } == [header])
    }

    @Test func `the client authorizes with user name and password`() async throws {
        let vendor = RecordingVendor()
        try await StubServer.with(vendor) { server in
            // The example of RFC 7617, section 2.
            let endpoint = LookupBench.endpoint(
                server, authorization: .basic, credentials: .basic(user: "Aladdin", password: secret("open sesame")))
            try await LookupBench.with([endpoint]) { bench in _ = try await bench.ask(bench.call()) }
        }
        #expect(vendor.requests.map { $0.header("authorization") } == ["Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="])
    }

    @Test func `the client authorizes with a token for the user`() async throws {
        let vendor = RecordingVendor()
        try await StubServer.with(vendor) { server in
            try await LookupBench.with([LookupBench.endpoint(server)]) { bench in
                _ = try await bench.ask(bench.call(bearer: bearer()))
            }
        }
        #expect(vendor.requests.map { $0.header("authorization") } == ["Bearer e30.e30.c2lnbmF0dXJl"])
    }

    @Test(arguments: [
        StubSigner.Way.fails(Rejection(.keyUnavailable, "canary")), .says([]), .says([.success([])]),
    ])
    func `the client asks nothing if the token is not signed`(way: StubSigner.Way) async throws {
        let vendor = RecordingVendor()
        try await StubServer.with(vendor) { server in
            try await LookupBench.with([LookupBench.endpoint(server)], signer: StubSigner(way: way)) { bench in
                let failure = try #require(await bench.ask(bench.call(bearer: bearer())).failure)
                #expect(failure.kind == .unavailable)
                #expect(!failure.detail.contains("canary"))
            }
        }
        #expect(vendor.requests.isEmpty)
    }

    @Test func `the client keeps its connections`() async throws {
        try await StubServer.with { server in
            try await LookupBench.with([LookupBench.endpoint(server)]) { bench in
                for _ in 1...20 {
                    let reply = try await bench.ask(bench.call())
                    #expect(reply.status == 200)
                }
            }
            #expect(server.traffic.requests == 20)
            #expect(server.traffic.connections == 1)
        }
    }

    @Test(arguments: ["users/1", "", "@elsewhere.example/", "/a b", "/a#b", "/%zz", "/%4", "/é", "/a\r\nx: y", "/{id}"])
    func `the client asks nothing if the path is malformed`(path: String) async throws {
        try await StubServer.with { server in
            try await LookupBench.with([LookupBench.endpoint(server)]) { bench in
                let failure = try #require(await bench.ask(bench.call(path)).failure)
                #expect(failure.kind == .misconfigured)
                #expect(path.isEmpty || !failure.detail.contains(path))
            }
            #expect(server.traffic.connections == 0)
        }
    }
}
