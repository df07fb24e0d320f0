import AdapterKit
import AdapterTestSupport
import BloomreachAdapter
import Testing

@Suite struct BloomreachStubTests {
    private static let key = "Basic a2V5OnNlY3JldA=="
    private static let project = BloomreachLookupTests.project
    private static let path = "/data/v2/projects/\(project)/customers/attributes"
    private static let body = #"{"customer_ids":{"registered":"r"},"attributes":[{"type":"id","id":"registered"}]}"#

    private func makeStub(gone: Set<String> = [], unknown: Set<String> = []) -> BloomreachStub {
        BloomreachStub(
            StubSetting(authorization: Self.key, gone: gone, unknown: unknown), project: Self.project)
    }

    private func post(
        _ body: String = body, target: String = path, method: String = "POST", key: String? = key
    ) -> StubRequest {
        StubRequest(
            method: method, target: target, headers: key.map { [("authorization", $0)] } ?? [], body: Array(body.utf8))
    }

    private func customer(_ ids: [String: String]) -> Subject {
        Subject(identifiers: ids.map { .init(name: $0.key, value: $0.value) })
    }

    /// Returns the adapter's verdict on the stub's answer to its own question.
    private func ask(
        _ stub: inout BloomreachStub, _ ids: [String: String], key: String? = key,
        settings: String = BloomreachLookupTests.customer
    ) throws -> String {
        let adapter = try makeAdapter(BloomreachAdapter.self, settings)
        guard case .requests(let requests) = adapter.lookup(for: [customer(ids)], mode: .verify) else { return "" }
        return requests.flatMap { request -> [String] in
            let body = String(decoding: request.body ?? [], as: UTF8.self)
            let answer = stub.answer(
                post(body, target: request.path, method: request.method.rawValue, key: key), at: now)
            return adapter.verdicts(
                from: LookupResponse(status: answer.status, body: answer.body), for: [customer(ids)]
            ).map(\.word)
        }.joined(separator: " ")
    }

    @Test(arguments: [404, 200])
    func `Bloomreach's stub has every customer except gone and unknown ones`(_ unknownStatus: Int) throws {
        var stub = makeStub(gone: ["g", "\u{E9}"], unknown: ["n"])
        stub.unknownStatus = unknownStatus
        #expect(try ask(&stub, ["registered": "r"]) == "exists")
        #expect(try ask(&stub, ["registered": "r", "email_id": "e", "ga": #"a"b\c"#]) == "exists")
        #expect(try ask(&stub, ["registered": "g"]) == "unknown")
        #expect(try ask(&stub, ["registered": "n"]) == "unknown")
        #expect(try ask(&stub, ["registered": "r", "email_id": "g"]) == "unknown")
        #expect(try ask(&stub, ["registered": "\u{E9}"]) == "unknown")
        #expect(try ask(&stub, ["registered": "e\u{301}"]) == "exists")
    }

    @Test func `either token's app can look up`() throws {
        var stub = makeStub()
        #expect(try ask(&stub, ["registered": "r"], settings: BloomreachLookupTests.stream) == "exists")
        #expect(try ask(&stub, ["registered": "r"], settings: BloomreachLookupTests.customer) == "exists")
    }

    @Test func `a key that may not read an id is a matter of the configuration`() throws {
        var stub = makeStub()
        stub.forbiddenIDs = ["email_id"]
        #expect(try ask(&stub, ["registered": "r", "email_id": "e"]) == "misconfigured")
        #expect(try ask(&stub, ["registered": "r"]) == "exists")
        let answer = stub.answer(
            post(#"{"customer_ids":{"registered":"r"},"attributes":[{"type":"property","property":"x"}]}"#), at: now)
        #expect(String(decoding: answer.body, as: UTF8.self).contains("No permission"))
    }

    @Test(arguments: [nil, "", "Basic other", "Bearer a2V5OnNlY3JldA=="])
    func `Bloomreach's stub refuses any other key`(_ key: String?) throws {
        var stub = makeStub()
        #expect(try ask(&stub, ["registered": "r"], key: key) == "misconfigured")
        let answer = stub.answer(post(key: key), at: now)
        #expect(answer.status == 401)
        #expect(String(decoding: answer.body, as: UTF8.self) == #"{"success":false,"error":"access key not found"}"#)
        var keyless = BloomreachStub(StubSetting(authorization: nil), project: Self.project)
        #expect(keyless.answer(post(key: key), at: now).status == 401)
    }

    @Test func `the key of one project is refused for another`() {
        var stub = makeStub()
        #expect(stub.answer(post(target: "/data/v2/projects/other/customers/attributes"), at: now).status == 401)
    }

    @Test func `Bloomreach's stub checks path and method`() {
        var stub = makeStub()
        for target in ["/", "/data/v2/projects/\(Self.project)/customers", Self.path + "/x", "/data/v3/projects/p/a/b"]
        {
            #expect(stub.answer(post(target: target), at: now).status == 404)
        }
        #expect(stub.answer(post("", method: "GET"), at: now).status == 405)
        #expect(stub.answer(post(), at: now).status == 200)
    }

    @Test(arguments: [
        "", "[]", "{", #"{"attributes":[{"type":"id","id":"a"}]}"#, #"{"customer_ids":{"a":"b"}}"#,
        #"{"customer_ids":{},"attributes":[{"type":"id","id":"a"}]}"#,
        #"{"customer_ids":{"a":1},"attributes":[{"type":"id","id":"a"}]}"#,
        #"{"customer_ids":["a"],"attributes":[{"type":"id","id":"a"}]}"#,
        #"{"customer_ids":{"a":"b"},"attributes":[]}"#, #"{"customer_ids":{"a":"b"},"attributes":["a"]}"#,
    ])
    func `Bloomreach's stub refuses a malformed body`(_ body: String) {
        var stub = makeStub()
        #expect(stub.answer(post(body), at: now).status == 400)
    }

    @Test func `Bloomreach's stub keeps the rate limit, and returns when to come back`() throws {
        var stub = makeStub()
        for _ in 0..<10 { #expect(stub.answer(post(), at: now).status == 200) }
        let refusal = stub.answer(post(), at: now)
        #expect(refusal.status == 429)
        #expect(refusal.headers.first { $0.name == "retry-after" }?.value == "1")
        #expect(try ask(&stub, ["registered": "r"]) == "throttled")
        #expect(stub.answer(post(), at: now.advanced(bySeconds: 1)).status == 200)
        stub.isThrottled = true
        #expect(stub.answer(post(), at: now.advanced(bySeconds: 9)).status == 429)
    }

    @Test func `Bloomreach's stub is the one the adapter makes`() throws {
        let adapter = try makeAdapter(BloomreachAdapter.self, BloomreachLookupTests.stream)
        var stub = try #require(adapter.stub(StubSetting(authorization: Self.key)))
        #expect(stub is BloomreachStub)
        #expect(stub.answer(post(), at: now).status == 200)
    }
}
