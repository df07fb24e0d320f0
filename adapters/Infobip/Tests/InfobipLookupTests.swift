import AdapterKit
import AdapterTestSupport
import AsyncTestSupport
import InfobipAdapter
import Testing

@Suite struct InfobipLookupTests {
    private static let adapter = Result { try makeAdapter(InfobipAdapter.self, #"{"application_code":"A"}"#) }

    private func users(_ ids: [String]) -> [Subject] { ids.map { Subject(user: $0) } }

    private static func match(_ ids: [String], _ subjects: Range<Int>) -> LookupRequest {
        let identities = ids.map { #"{"type":"EXTERNAL_ID","identifier":"\#($0)"}"# }.joined(separator: ",")
        return LookupRequest(
            method: .post, path: "/people/2/persons/match", body: Array("{\"identities\":[\(identities)]}".utf8),
            subjects: subjects)
    }

    private static func person(_ part: String, at place: Int = 0) -> LookupRequest {
        LookupRequest(
            method: .get, path: "/people/2/persons?identifier=\(part)&type=EXTERNAL_ID", subjects: place..<(place + 1))
    }

    @Test func `Infobip's look-up terms are the documented ones`() throws {
        #expect(
            try Self.adapter.get().lookupTerms
                == LookupTerms(
                    endpoint: nil, authorization: .key(scheme: "App"), batch: 50, rates: [.init(5, perSeconds: 1)],
                    unknownUser: .mint, enriches: false))
    }

    /// Ids, their form in a query, and their form in a JSON string.
    static let ids: [(id: String, part: String, json: String)] = [
        ("u-1001", "u-1001", "u-1001"), ("a/b", "a%2Fb", "a/b"), ("50%25", "50%2525", "50%25"),
        ("a b", "a%20b", "a b"), ("+", "%2B", "+"), ("&type=PHONE#z", "%26type%3DPHONE%23z", "&type=PHONE#z"),
        ("\u{E9}", "%C3%A9", "\u{E9}"), ("e\u{301}", "e%CC%81", "e\u{301}"),
        ("\u{1F511}", "%F0%9F%94%91", "\u{1F511}"), ("\r\n\u{0}x", "%0D%0A%00x", "\\r\\n\\u0000x"),
        ("..", "..", ".."), ("\"\\", "%22%5C", "\\\"\\\\"),
    ]

    @Test(arguments: ids.indices) func `one person is asked for by name, several with a match`(_ index: Int) throws {
        let (id, part, json) = Self.ids[index]
        let adapter = try Self.adapter.get()
        for mode in [LookupMode.verify, .enrich] {
            #expect(adapter.lookup(for: users([id]), mode: mode) == .requests([Self.person(part)]))
            #expect(
                adapter.lookup(for: users([id, "b"]), mode: mode) == .requests([Self.match([json, "b"], 0..<2)]))
        }
        #expect(adapter.lookup(for: users([id, "b"]), mode: .off) == .none)
    }

    @Test(arguments: [1, 2, 49, 50, 51, 52, 100, 101, 120])
    func `each user is asked for once, and 50 at most in one request`(_ count: Int)
        throws
    {
        let ids = (0..<count).map { "u-\($0)" }
        let requests = try Self.adapter.get().requests(for: users(ids))
        #expect(requests.flatMap(\.subjects) == Array(0..<count))
        #expect(requests.dropLast().allSatisfy { $0.subjects.count == 50 })
        for request in requests {
            let expected =
                request.subjects.count == 1
                ? Self.person(ids[request.subjects.lowerBound], at: request.subjects.lowerBound)
                : Self.match(Array(ids[request.subjects]), request.subjects)
            #expect(request == expected)
        }
    }

    @Test func `an empty identifier is never asked for`() throws {
        let adapter = try Self.adapter.get()
        for ids in [[], [""], [" "], ["", ""], ["\u{A0}\n"], Array(repeating: "", count: 120)] {
            #expect(adapter.lookup(for: users(ids), mode: .verify) == .none)
        }
        let named = Subject(identifiers: [.init(name: "registered", value: "r")])
        #expect(adapter.lookup(for: [named], mode: .verify) == .none)
        #expect(
            adapter.lookup(for: users(["", "a", "", " ", "b"]), mode: .verify)
                == .requests([Self.match(["a", "b"], 0..<5)]))
        #expect(adapter.lookup(for: [named] + users(["a"]), mode: .verify) == .requests([Self.match(["a"], 0..<2)]))
        let fifty = (0..<50).map { "u-\($0)" }
        #expect(
            adapter.lookup(for: users(fifty + ["", "x"]), mode: .verify)
                == .requests([Self.match(fifty, 0..<51), Self.person("x", at: 51)]))
        #expect(adapter.lookup(for: users(fifty + [""]), mode: .verify) == .requests([Self.match(fifty, 0..<51)]))
    }

    @Test(.timeLimit(.minutes(5))) func `a damaged answer of Infobip finds only users it names`() throws {
        let adapter = try Self.adapter.get()
        let match =
            #"{"matches":[{"type":"EXTERNAL_ID","identifier":"u-1","personId":1},{"type":"EXTERNAL_ID","identifier":"u-2","personId":2}]}"#
        let cases = [
            (#"{"id":1,"externalId":"u-1","firstName":"Ann"}"#, ["u-1"], "externalId"),
            (match, ["u-1", "u-2", "u-3"], "identifier"),
        ]
        for (good, ids, member) in cases {
            var bodies = DamagedBodies(seed: 0x1F0B)
            var found = 0
            for round in 0..<Scale.rounds(4000) {
                let body = round.isMultiple(of: 3) ? bodies.random() : bodies.damaged(good)
                for status in [200, 400, 404, 429, 500] {
                    let words = adapter.words(on: LookupResponse(status: status, body: body), for: users(ids))
                    #expect(words.count == ids.count)
                    for (word, id) in zip(words, ids) where word == "exists" {
                        found += 1
                        #expect(status == 200)
                        #expect(body.contains(Array("\"\(member)\":\"\(id)\"".utf8)))
                    }
                }
            }
            #expect(found > Scale.rounds(100), "the damage is so great that the test tests nothing")
        }
    }
}
