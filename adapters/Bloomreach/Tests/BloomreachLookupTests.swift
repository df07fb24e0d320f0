import AdapterKit
import AdapterTestSupport
import BloomreachAdapter
import Testing

@Suite struct BloomreachLookupTests {
    static let project = "12345678-1234-1234-1234-123456789abc"
    static let stream = #"{"mode":"stream","lookup_project":"\#(project)"}"#
    static let customer = #"{"mode":"customer_token","lookup_project":"\#(project)"}"#

    private static let path = "/data/v2/projects/\(project)/customers/attributes"
    private let ann = Subject(identifiers: [.init(name: "registered", value: "ann@example.com")])

    @Test(arguments: [stream, customer])
    func `Bloomreach's look-up terms are the documented ones, for either token`(_ settings: String) throws {
        let adapter = try makeAdapter(BloomreachAdapter.self, settings)
        #expect(
            adapter.lookupTerms
                == LookupTerms(
                    endpoint: "https://api.exponea.com", authorization: .basic, batch: 1,
                    rates: [.init(10, perSeconds: 1)], unknownUser: .mint, enriches: false))
    }

    @Test(arguments: [
        #"{"mode":"stream"}"#, #"{"mode":"customer_token"}"#, #"{"mode":"stream","lookup_project":null}"#,
    ])
    func `Bloomreach's adapter asks nothing if no project is named`(_ settings: String) throws {
        let adapter = try makeAdapter(BloomreachAdapter.self, settings)
        #expect(adapter.lookupTerms == nil)
        #expect(adapter.lookup(for: [ann], mode: .verify) == .none)
        #expect(adapter.stub(StubSetting(authorization: "Basic eA==")) == nil)
    }

    @Test(arguments: ["", " ", "a b", "../x", "a/b", "a%2Fb", "a?b", "a_b", "\u{E9}", "a\n"])
    func `a string that is no project token is refused`(_ token: String) throws {
        let error = #expect(throws: SettingsError.self) {
            try BloomreachAdapter(settings: BloomreachSettings(mode: .stream, lookupProject: token))
        }
        #expect(error?.key == "lookup_project")
        #expect(error?.message.isEmpty == false)
    }

    @Test(arguments: [LookupMode.verify, .enrich])
    func `the request to Bloomreach names each customer's ids, byte for byte`(_ mode: LookupMode) throws {
        let adapter = try makeAdapter(BloomreachAdapter.self, Self.customer)
        let two = Subject(identifiers: [
            .init(name: "registered", value: #"a"b\c"#), .init(name: "email_id", value: "e\u{301}\n\u{1F511}"),
        ])
        let first = #"{"customer_ids":{"registered":"ann@example.com"},"attributes":[{"type":"id","id":"registered"}]}"#
        let second =
            "{\"customer_ids\":{\"email_id\":\"e\u{301}\\n\u{1F511}\",\"registered\":\"a\\\"b\\\\c\"},"
            + #""attributes":[{"type":"id","id":"email_id"},{"type":"id","id":"registered"}]}"#
        #expect(
            adapter.lookup(for: [ann, two], mode: mode)
                == .requests([
                    LookupRequest(method: .post, path: Self.path, body: Array(first.utf8), subjects: 0..<1),
                    LookupRequest(method: .post, path: Self.path, body: Array(second.utf8), subjects: 1..<2),
                ]))
    }

    @Test func `Bloomreach's adapter asks nothing if look-ups are off or nobody is named`() throws {
        let adapter = try makeAdapter(BloomreachAdapter.self, Self.stream)
        #expect(adapter.lookup(for: [ann], mode: .off) == .none)
        #expect(adapter.lookup(for: [], mode: .verify) == .none)
        #expect(adapter.verdicts(from: LookupResponse(status: 200, body: []), for: []) == [])
    }

    @Test func `a subject without customer ids is nobody`() throws {
        let adapter = try makeAdapter(BloomreachAdapter.self, Self.stream)
        for subject in [Subject(user: "u-1"), Subject(identifiers: [])] {
            for (status, body) in [(200, #"{"success":true,"results":[]}"#), (404, ""), (500, "")] {
                let response = LookupResponse(status: status, body: Array(body.utf8))
                #expect(adapter.verdicts(from: response, for: [subject]).map(\.word) == ["misconfigured"])
            }
        }
    }

    @Test func `one answer is about one customer`() throws {
        let adapter = try makeAdapter(BloomreachAdapter.self, Self.stream)
        let body = #"{"success":true,"results":[{"success":true,"value":"ann@example.com"}]}"#
        let response = LookupResponse(status: 200, body: Array(body.utf8))
        #expect(adapter.verdicts(from: response, for: [ann]).map(\.word) == ["exists"])
        #expect(adapter.verdicts(from: response, for: [ann, ann]).map(\.word) == ["unreadable", "unreadable"])
    }
}

extension LookupVerdict {
    /// The verdict in a word: `exists`, `gone`, `unknown`, or the kind of the failure.
    var word: String {
        switch self {
        case .exists(let enrichment): enrichment.isEmpty ? "exists" : "enriched"
        case .gone: "gone"
        case .unknown: "unknown"
        case .unanswered(let failure): failure.kind.rawValue
        }
    }
}
