import AdapterKit
import AdapterTestSupport
import AsyncTestSupport
import OneSignalAdapter
import Testing

@Suite struct OneSignalLookupTests {
    private static let adapter = Result { try makeAdapter(OneSignalAdapter.self, #"{"app_id":"A"}"#) }
    private let user = Subject(user: "u-1001")

    // MARK: Settings and terms

    @Test func `OneSignal's look-up uses a minted token unless the settings choose the key`() throws {
        for settings in [#"{"app_id":"A"}"#, #"{"app_id":"A","lookup_auth":"minted_jwt"}"#] {
            let terms = try #require(try makeAdapter(OneSignalAdapter.self, settings).lookupTerms)
            #expect(
                terms
                    == LookupTerms(
                        endpoint: "https://api.onesignal.com", authorization: .mintedToken, batch: 1,
                        rates: [.init(1, perSeconds: 1)], unknownUser: .mint, enriches: true))
        }
        let keyed = try makeAdapter(OneSignalAdapter.self, #"{"app_id":"A","lookup_auth":"key"}"#)
        #expect(keyed.lookupTerms?.authorization == .key(scheme: "Key"))
    }

    @Test(arguments: ["Key", "jwt", "minted-jwt", ""]) func `an unknown value of lookup_auth is refused`(_ name: String)
    {
        let error = #expect(throws: SettingsError.self) {
            try makeAdapter(OneSignalAdapter.self, #"{"app_id":"A","lookup_auth":"\#(name)"}"#)
        }
        #expect(error?.key == "lookup_auth")
        #expect(throws: DecodingError.self) {
            try makeAdapter(OneSignalAdapter.self, #"{"app_id":"A","lookup_auth":true}"#)
        }
    }

    // MARK: Requests

    /// Ids and their form in a path.
    static let paths: [(id: String, part: String)] = [
        ("u-1001", "u-1001"), ("a/b", "a%2Fb"), ("50%25", "50%2525"), ("a b", "a%20b"), ("+", "%2B"),
        ("?x=1&y#z", "%3Fx%3D1%26y%23z"), ("identity", "identity"), ("a@b.c", "a%40b.c"),
        ("\u{E9}", "%C3%A9"), ("e\u{301}", "e%CC%81"), ("\u{1F511}", "%F0%9F%94%91"), ("\r\n\u{0}", "%0D%0A%00"),
        (".", "%2E"), ("..", "%2E%2E"), ("...", "..."), ("../..", "..%2F.."),
    ]

    @Test(arguments: paths.indices) func `the request to OneSignal asks for the identity, or for the whole user`(
        _ index: Int
    ) throws {
        let (id, part) = Self.paths[index]
        let adapter = try Self.adapter.get()
        let path = "/apps/A/users/by/external_id/\(part)"
        #expect(
            adapter.lookup(for: [Subject(user: id)], mode: .verify)
                == .requests([LookupRequest(method: .get, path: path + "/identity", subjects: 0..<1)]))
        #expect(
            adapter.lookup(for: [Subject(user: id)], mode: .enrich)
                == .requests([LookupRequest(method: .get, path: path, subjects: 0..<1)]))
        #expect(adapter.lookup(for: [Subject(user: id)], mode: .off) == .none)
    }

    @Test func `each user gets a request of its own to OneSignal`() throws {
        let subjects = ["a", "b", "c"].map { Subject(user: $0) }
        let requests = try Self.adapter.get().requests(for: subjects)
        #expect(requests.map(\.subjects) == [0..<1, 1..<2, 2..<3])
        #expect(requests.map(\.path) == ["a", "b", "c"].map { "/apps/A/users/by/external_id/\($0)/identity" })
    }

    @Test func `OneSignal's adapter asks nothing if nobody is named`() throws {
        let adapter = try Self.adapter.get()
        #expect(adapter.lookup(for: [], mode: .verify) == .none)
        #expect(adapter.lookup(for: [user, Subject(user: "")], mode: .verify) == .none)
        #expect(adapter.lookup(for: [Subject(identifiers: [.init(name: "a", value: "b")])], mode: .verify) == .none)
    }

    // MARK: Answers

    private static let answers: [AnswerSample] = [
        .init(200, #"{"identity":{"external_id":"u-1001","onesignal_id":"o"}}"#, "exists"),
        .init(200, #"{"identity":{"external_id":"\u0075-1001"},"properties":{},"more":1}"#, "exists"),
        .init(200, #"{"identity":{"external_id":"u-1002"}}"#, "mismatched"),
        .init(200, #"{"identity":{"external_id":"U-1001"}}"#, "mismatched"),
        .init(200, #"{"identity":{"external_id":"u-1001 "}}"#, "mismatched"),
        .init(200, #"{"identity":{"external_id":""}}"#, "mismatched"),
        .init(200, #"{"identity":{"external_id":1001}}"#, "unreadable"),
        .init(200, #"{"identity":{"external_id":null}}"#, "unreadable"),
        .init(200, #"{"identity":{"onesignal_id":"u-1001"}}"#, "unreadable"),
        .init(200, #"{"identity":"u-1001"}"#, "unreadable"), .init(200, #"{"external_id":"u-1001"}"#, "unreadable"),
        .init(200, #"[{"identity":{"external_id":"u-1001"}}]"#, "unreadable"),
        .init(200, #"{"identity":{"external_id":"u-1001"}"#, "unreadable"),
        .init(200, #"{"identity":{"external_id":"u-1001","external_id":"u-1001"}}"#, "unreadable"),
        .init(200, #"{"identity":{"external_id":"u-1001"},"subscriptions":{}}"#, "unreadable"),
        .init(200, "", "unreadable"), .init(200, "{}", "unreadable"), .init(200, "null", "unreadable"),
        .init(200, "<html>", "unreadable"), .init(202, #"{"identity":{"external_id":"u-1001"}}"#, "unreadable"),
        .init(204, "", "unreadable"), .init(301, "", "misconfigured"),
        .init(400, #"{"errors":["app_id not found"]}"#, "misconfigured"), .init(401, "", "misconfigured"),
        .init(403, "{}", "misconfigured"), .init(409, "{}", "misconfigured"),
        .init(404, #"{"errors":["no such user"]}"#, "unknown"), .init(404, "", "unknown"),
        .init(408, "", "unavailable"),
        .init(429, #"{"errors":["API rate limit exceeded."]}"#, "throttled"), .init(500, "", "unavailable"),
        .init(502, #"{"identity":{"external_id":"u-1001"}}"#, "unavailable"), .init(503, "", "unavailable"),
    ]

    @Test(arguments: answers) func `OneSignal's answers about a user are understood`(_ sample: AnswerSample) throws {
        #expect(try Self.adapter.get().words(on: sample.response, for: [user]) == [sample.meaning])
    }

    @Test func `another spelling of an accent in OneSignal's answer is another user`() throws {
        for (asked, named) in [("\u{E9}", "e\u{301}"), ("e\u{301}", "\u{E9}")] {
            let other = AnswerSample(200, #"{"identity":{"external_id":"\#(named)"}}"#, "")
            let same = AnswerSample(200, #"{"identity":{"external_id":"\#(asked)"}}"#, "")
            let adapter = try Self.adapter.get()
            #expect(adapter.words(on: other.response, for: [Subject(user: asked)]) == ["mismatched"])
            #expect(adapter.words(on: same.response, for: [Subject(user: asked)]) == ["exists"])
        }
    }

    @Test func `OneSignal's adapter has a verdict for each subject, also on another's answer`() throws {
        let adapter = try Self.adapter.get()
        let good = AnswerSample(200, #"{"identity":{"external_id":"u-1001"}}"#, "").response
        #expect(adapter.words(on: good, for: []).isEmpty)
        #expect(adapter.words(on: good, for: [user, user]) == ["unreadable", "unreadable"])
        #expect(
            adapter.words(on: good, for: [Subject(identifiers: [.init(name: "a", value: "u-1001")])])
                == ["mismatched"])
    }

    @Test(.timeLimit(.minutes(5))) func `a damaged answer of OneSignal finds only a user it names`() throws {
        let adapter = try Self.adapter.get()
        var bodies = DamagedBodies(seed: 0x0E51)
        let good =
            #"{"identity":{"external_id":"u-1001","onesignal_id":"o"},"subscriptions":[{"type":"SMS","token":"+1"}]}"#
        var found = 0
        for round in 0..<Scale.rounds(6000) {
            let body = round.isMultiple(of: 3) ? bodies.random() : bodies.damaged(good)
            for status in [200, 400, 404, 429, 500] {
                let words = adapter.words(on: LookupResponse(status: status, body: body), for: [user])
                #expect(words.count == 1)
                guard words == ["exists"] else { continue }
                found += 1
                #expect(status == 200)
                #expect(body.contains(Array(#""external_id":"u-1001""#.utf8)))
            }
        }
        #expect(found > Scale.rounds(100), "the damage is so great that the test tests nothing")
    }
}
