import AdapterKit
import AdapterTestSupport
import BrazeAdapter
import Testing

@Suite struct BrazeLookupTests {
    private let adapter: any StubbedAdapter

    init() throws { adapter = try makeAdapter(BrazeAdapter.self, "{}") }

    private func requests(_ users: [String], _ mode: LookupMode = .verify) -> [LookupRequest] {
        guard case .requests(let requests) = adapter.lookup(for: users.map { Subject(user: $0) }, mode: mode) else {
            return []
        }
        return requests
    }

    @Test func `Braze's look-up terms are the documented ones`() {
        #expect(
            adapter.lookupTerms
                == LookupTerms(
                    endpoint: nil, authorization: .key(scheme: "Bearer"), batch: 50,
                    rates: [.init(250, perSeconds: 60), .init(40)], ceiling: .init(40), unknownUser: .reject,
                    enriches: false))
    }

    @Test(arguments: [LookupMode.verify, .enrich])
    func `the request to Braze asks for the fewest fields, byte for byte`(_ mode: LookupMode) {
        let body =
            #"{"external_ids":["u-1","u-2"],"fields_to_export":["external_id","braze_id","user_aliases"]}"#
        #expect(
            requests(["u-1", "u-2"], mode)
                == [LookupRequest(method: .post, path: "/users/export/ids", body: Array(body.utf8), subjects: 0..<2)])
    }

    @Test(arguments: [
        (#"a"b\c"#, #""a\"b\\c""#), ("line\nbreak\u{0}", #""line\nbreak\u0000""#), ("é", "\"\u{E9}\""),
        ("e\u{301}", "\"e\u{301}\""), ("\u{1F511} /%", "\"\u{1F511} /%\""),
    ])
    func `the request to Braze keeps an id's bytes`(_ id: String, _ json: String) {
        let body = #"{"external_ids":[\#(json)],"fields_to_export":["external_id","braze_id","user_aliases"]}"#
        #expect(requests([id]).map { $0.body ?? [] } == [Array(body.utf8)])
    }

    @Test(arguments: [(1, [1]), (49, [49]), (50, [50]), (51, [50, 1]), (100, [50, 50]), (120, [50, 50, 20])])
    func `one request to Braze asks about fifty users at most`(_ count: Int, _ sizes: [Int]) throws {
        let users = (0..<count).map { "u-\($0)" }
        let requests = requests(users)
        #expect(requests.map(\.subjects.count) == sizes)
        let asked = try requests.flatMap { request -> [String] in
            let root = try JSONDocument(parsing: request.body ?? []).root
            return root["external_ids"]?.elements.compactMap(\.string) ?? []
        }
        #expect(asked == users)
    }

    @Test func `Braze's adapter asks nothing if look-ups are off or nobody is named`() {
        #expect(adapter.lookup(for: [Subject(user: "u-1")], mode: .off) == .none)
        #expect(adapter.lookup(for: [], mode: .verify) == .none)
        #expect(adapter.verdicts(from: LookupResponse(status: 200, body: []), for: []) == [])
    }

    @Test func `a subject without an id is left out of Braze's request, and its verdict is misconfigured`() {
        let subjects = [
            Subject(user: ""), Subject(user: "u-1"), Subject(identifiers: [.init(name: "registered", value: "r")]),
        ]
        let body = #"{"external_ids":["u-1"],"fields_to_export":["external_id","braze_id","user_aliases"]}"#
        #expect(
            adapter.lookup(for: subjects, mode: .verify)
                == .requests([
                    LookupRequest(method: .post, path: "/users/export/ids", body: Array(body.utf8), subjects: 0..<3)
                ]))
        let answer = Array(#"{"message":"success","users":[{"external_id":"u-1"}],"invalid_user_ids":[""]}"#.utf8)
        let verdicts = adapter.verdicts(from: LookupResponse(status: 200, body: answer), for: subjects)
        #expect(verdicts.map(\.word) == ["misconfigured", "exists", "misconfigured"])
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
