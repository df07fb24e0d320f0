import AdapterKit
import AdapterTestSupport
import AsyncTestSupport
import DotdigitalAdapter
import Testing

@Suite struct DotdigitalLookupTests {
    /// An adapter whose settings end with `more`.
    static func makeAdapter(_ more: String = "") throws -> any StubbedAdapter {
        try AdapterTestSupport.makeAdapter(DotdigitalAdapter.self, #"{"issuer":"i","audience":"a"\#(more)}"#)
    }

    static func makeAdapter(contactBy identifier: String) throws -> any StubbedAdapter {
        try makeAdapter(#","lookup":"contact","lookup_by":"\#(identifier)""#)
    }

    private let user = Subject(user: "u-1001", challenge: "n-1")

    // MARK: Settings and terms

    @Test func `Dotdigital's look-up terms are the documented ones`() throws {
        #expect(
            try Self.makeAdapter().lookupTerms
                == LookupTerms(
                    endpoint: nil, authorization: .basic, batch: 1, rates: [.init(5, perSeconds: 1)], timeout: 121,
                    unknownUser: .mint, enriches: false))
    }

    private static let refused: [(settings: String, key: String)] = [
        (#","lookup":"contacts""#, "lookup"), (#","lookup":"""#, "lookup"), (#","lookup":"contact""#, "lookup_by"),
        (#","lookup":"contact","lookup_by":"""#, "lookup_by"), (#","lookup_by":"email""#, "lookup_by"),
        (#","lookup":"profile","lookup_by":"email""#, "lookup_by"),
        (#","lookup":"contact","lookup_by":"Email""#, "lookup_by"),
        (#","lookup":"contact","lookup_by":"mobilenumber""#, "lookup_by"),
        (#","lookup":"contact","lookup_by":"contactID""#, "lookup_by"),
    ]

    @Test(arguments: refused.indices) func `look-up settings without a meaning are refused`(_ index: Int) {
        let (settings, key) = Self.refused[index]
        let error = #expect(throws: SettingsError.self) { try Self.makeAdapter(settings) }
        #expect(error?.key == key)
    }

    @Test func `look-up settings of another type are refused`() {
        for settings in [#","lookup":true"#, #","lookup":"contact","lookup_by":["email"]"#] {
            #expect(throws: DecodingError.self) { try Self.makeAdapter(settings) }
        }
    }

    // MARK: Requests

    /// Ids and their form in a path.
    static let paths: [(id: String, part: String)] = [
        ("u-1001", "u-1001"), ("a/b", "a%2Fb"), ("50%25", "50%2525"), ("a b", "a%20b"), ("+", "%2B"),
        ("?includeDeleted=false&y#z", "%3FincludeDeleted%3Dfalse%26y%23z"), ("a@b.c", "a%40b.c"),
        ("\u{E9}", "%C3%A9"), ("e\u{301}", "e%CC%81"), ("\u{1F511}", "%F0%9F%94%91"), ("\r\n\u{0}", "%0D%0A%00"),
        (".", "%2E"), ("..", "%2E%2E"), ("...", "..."), ("../..", "..%2F.."),
    ]

    @Test(arguments: paths.indices) func `the request for a profile includes deleted ones`(_ index: Int) throws {
        let (id, part) = Self.paths[index]
        let expected = LookupRequest(
            method: .get, path: "/cpaas/profiles/\(part)?includeDeleted=true", subjects: 0..<1)
        for settings in ["", #","lookup":"profile""#] {
            for mode in [LookupMode.verify, .enrich] {
                #expect(
                    try Self.makeAdapter(settings).lookup(for: [Subject(user: id, challenge: "n")], mode: mode)
                        == .requests([expected]))
            }
        }
        #expect(try Self.makeAdapter().lookup(for: [user], mode: .off) == .none)
    }

    @Test(arguments: paths.indices) func `the request for a contact names it by the configured identifier`(_ index: Int)
        throws
    {
        let (id, part) = Self.paths[index]
        let identifiers = [
            ("contactId", "contactId"), ("email", "email"), ("mobileNumber", "mobileNumber"),
            ("loyalty card/no", "loyalty%20card%2Fno"), ("..", "%2E%2E"),
        ]
        for (identifier, name) in identifiers {
            let expected = LookupRequest(method: .get, path: "/contacts/v3/\(name)/\(part)", subjects: 0..<1)
            #expect(
                try Self.makeAdapter(contactBy: identifier).lookup(for: [Subject(user: id)], mode: .verify)
                    == .requests([expected]))
        }
    }

    @Test func `each subject gets a request of its own to Dotdigital`() throws {
        let subjects = [user, Subject(user: "u-1001", challenge: "n-2"), Subject(user: "b", challenge: "n-1")]
        let requests = try Self.makeAdapter().requests(for: subjects)
        #expect(requests.map(\.subjects) == [0..<1, 1..<2, 2..<3])
        #expect(
            requests.map(\.path) == ["u-1001", "u-1001", "b"].map { "/cpaas/profiles/\($0)?includeDeleted=true" })
    }

    @Test func `Dotdigital's adapter asks nothing if nobody is named`() throws {
        let adapter = try Self.makeAdapter()
        #expect(adapter.lookup(for: [], mode: .verify) == .none)
        #expect(adapter.lookup(for: [user, Subject(user: "", challenge: "n")], mode: .verify) == .none)
        #expect(adapter.lookup(for: [Subject(identifiers: [.init(name: "a", value: "b")])], mode: .verify) == .none)
    }

    @Test func `Dotdigital's adapter has a verdict for each subject, also on another's answer`() throws {
        let good = LookupResponse(status: 200, body: Array(#"{"id":"u-1001"}"#.utf8))
        let adapter = try Self.makeAdapter()
        #expect(adapter.words(on: good, for: []).isEmpty)
        #expect(adapter.words(on: good, for: [user, user]) == ["unreadable", "unreadable"])
        #expect(
            adapter.words(on: good, for: [Subject(identifiers: [.init(name: "id", value: "u-1001")])])
                == ["mismatched"])
    }

    @Test(.timeLimit(.minutes(5))) func `a damaged answer of Dotdigital finds only a user it names`() throws {
        let contact = #"{"contactId":7,"identifiers":{"email":"u-1001","mobileNumber":"1"},"lists":[]}"#
        let cases = [
            (try Self.makeAdapter(), #"{"id":"u-1001","_systemProfile":false,"n":1}"#, #""id":"u-1001""#),
            (try Self.makeAdapter(contactBy: "email"), contact, #""email":"u-1001""#),
        ]
        for (adapter, good, name) in cases {
            var bodies = DamagedBodies(seed: 0xD07)
            var found = 0
            for round in 0..<Scale.rounds(4000) {
                let body = round.isMultiple(of: 3) ? bodies.random() : bodies.damaged(good)
                for status in [200, 400, 404, 429, 500] {
                    let words = adapter.words(on: LookupResponse(status: status, body: body), for: [user])
                    #expect(words.count == 1)
                    guard words == ["exists"] else { continue }
                    found += 1
                    #expect(status == 200)
                    #expect(body.contains(Array(name.utf8)))
                }
            }
            #expect(found > Scale.rounds(100), "the damage is so great that the test tests nothing")
        }
    }
}
