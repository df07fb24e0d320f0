import AdapterKit
import AdapterTestSupport
import BrazeAdapter
import Testing

@Suite struct BrazeStubTests {
    private static let key = "Bearer a-rest-key"
    private let adapter: any StubbedAdapter

    init() throws { adapter = try makeAdapter(BrazeAdapter.self, "{}") }

    private func makeStub(gone: Set<String> = [], unknown: Set<String> = []) -> BrazeStub {
        BrazeStub(StubSetting(authorization: Self.key, gone: gone, unknown: unknown))
    }

    private func post(
        _ body: String, target: String = "/users/export/ids", method: String = "POST", key: String? = key
    ) -> StubRequest {
        StubRequest(
            method: method, target: target, headers: key.map { [("Authorization", $0)] } ?? [], body: Array(body.utf8))
    }

    /// Returns the adapter's verdicts on the stub's answers to its own questions.
    private func ask(_ stub: inout BrazeStub, _ users: [String], key: String? = key) throws -> [String] {
        let subjects = users.map { Subject(user: $0) }
        guard case .requests(let requests) = adapter.lookup(for: subjects, mode: .verify) else { return [] }
        return requests.flatMap { request -> [String] in
            let body = String(decoding: request.body ?? [], as: UTF8.self)
            let answer = stub.answer(
                post(body, target: request.path, method: request.method.rawValue, key: key), at: now)
            return adapter.verdicts(
                from: LookupResponse(status: answer.status, body: answer.body), for: Array(subjects[request.subjects])
            ).map(\.word)
        }
    }

    @Test func `Braze's stub knows every user except gone and unknown ones`() throws {
        var stub = makeStub(gone: ["u-2", "\u{E9}"], unknown: ["u-3"])
        #expect(try ask(&stub, ["u-1", "u-2", "u-3"]) == ["exists", "unknown", "unknown"])
        #expect(try ask(&stub, ["\u{E9}", "e\u{301}", "a\"b\\c\n\u{1F511}"]) == ["unknown", "exists", "exists"])
        let many = (0..<120).map { "u-\($0)" }
        #expect(try ask(&stub, many).filter { $0 == "unknown" }.count == 2)
    }

    @Test func `a renamed user is neither confirmed nor unknown`() throws {
        var stub = makeStub(gone: ["u-4"])
        stub.renamed = [(old: "u-1", new: "n-1")]
        #expect(try ask(&stub, ["u-1"]) == ["mismatched"])
        #expect(try ask(&stub, ["u-1", "u-2", "u-4"]) == ["mismatched", "exists", "unknown"])
        #expect(try ask(&stub, ["n-1"]) == ["exists"])
    }

    @Test(arguments: [BrazeStub.Fault.queued, .throttled, .broken])
    func `Braze's stub has bad days, queued, throttled or broken, and then answers again`(_ fault: BrazeStub.Fault)
        throws
    {
        var stub = makeStub()
        stub.fault = fault
        let expected = [BrazeStub.Fault.queued: "throttled", .throttled: "throttled", .broken: "unavailable"][fault]
        #expect(try ask(&stub, ["u-1", "u-2"]) == [expected, expected])
        stub.fault = nil
        #expect(try ask(&stub, ["u-1"]) == ["exists"])
    }

    @Test(arguments: [nil, "", "Bearer other", "Basic a-rest-key", "bearer a-rest-key"])
    func `Braze's stub refuses any other key`(_ key: String?) throws {
        var stub = makeStub()
        #expect(stub.answer(post("{}", key: key), at: now).status == 401)
        #expect(try ask(&stub, ["u-1"], key: key) == ["misconfigured"])
        var keyless = BrazeStub(StubSetting(authorization: nil))
        #expect(keyless.answer(post("{}", key: key), at: now).status == 401)
    }

    @Test(arguments: [
        ("", 400), ("[]", 400), ("{", 400), (#"{"fields_to_export":["external_id"]}"#, 400),
        (#"{"external_ids":"u","fields_to_export":["external_id"]}"#, 400),
        (#"{"external_ids":[],"fields_to_export":["external_id"]}"#, 400),
        (#"{"external_ids":[1],"fields_to_export":["external_id"]}"#, 400),
        (#"{"external_ids":["u"]}"#, 400), (#"{"external_ids":["u"],"fields_to_export":[]}"#, 400),
        (#"{"external_ids":["u"],"fields_to_export":[1]}"#, 400),
        (#"{"external_ids":["u"],"fields_to_export":["external_id"]}"#, 201),
    ])
    func `Braze's stub checks the body`(_ body: String, _ status: Int) {
        var stub = makeStub()
        #expect(stub.answer(post(body), at: now).status == status)
    }

    @Test func `Braze's stub accepts fifty ids and no more`() {
        var stub = makeStub()
        func body(_ count: Int) -> String {
            let ids = (0..<count).map { "\"u-\($0)\"" }.joined(separator: ",")
            return #"{"external_ids":[\#(ids)],"fields_to_export":["external_id"]}"#
        }
        #expect(stub.answer(post(body(50)), at: now).status == 201)
        #expect(stub.answer(post(body(51)), at: now).status == 400)
    }

    @Test func `Braze's stub checks path and method`() {
        var stub = makeStub()
        #expect(stub.answer(post("{}", target: "/users/export/segment"), at: now).status == 404)
        #expect(stub.answer(post("{}", target: "/"), at: now).status == 404)
        #expect(stub.answer(post("", method: "GET"), at: now).status == 405)
    }

    @Test func `Braze's stub keeps both rate limits, and returns when to come back`() throws {
        var stub = makeStub()
        let body = #"{"external_ids":["u"],"fields_to_export":["external_id"]}"#
        func status(_ time: UnixTime) -> Int { stub.answer(post(body), at: time).status }
        for second in 0..<6 {
            for _ in 0..<40 { #expect(status(now.advanced(bySeconds: Int64(second))) == 201) }
            #expect(status(now.advanced(bySeconds: Int64(second))) == 429)
        }
        // 240 of 250 are used: what the shorter limit refused does not count.
        for _ in 0..<10 { #expect(status(now.advanced(bySeconds: 6)) == 201) }
        let refusal = stub.answer(post(body), at: now.advanced(bySeconds: 7))
        #expect(refusal.status == 429)
        let headers = Dictionary(refusal.headers.map { ($0.name, $0.value) }) { first, _ in first }
        #expect(headers["retry-after"] == "53")
        #expect(headers["x-ratelimit-remaining"] == "0")
        #expect(headers["x-ratelimit-reset"] == String(now.seconds + 60))
        #expect(status(now.advanced(bySeconds: 60)) == 201)
    }

    @Test func `Braze's stub is the one the adapter makes`() throws {
        let stub = try #require(adapter.stub(StubSetting(authorization: Self.key)))
        #expect(stub is BrazeStub)
    }
}
