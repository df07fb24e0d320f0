import AdapterKit
import Testing

@Suite struct ReportUserTests {
    private func user(_ json: String, within limit: IdentifierLimit = .standard, also levels: [String] = []) throws
        -> ReportedUser
    {
        func report(_ json: String) throws -> Report {
            Report(try JSONDocument(parsing: Array(json.utf8)).root, observedAt: UnixTime(seconds: 0))
        }
        return try report(json).user("userId", "user_id", alsoIn: try levels.map(report), within: limit)
    }

    @Test func `takes one user under either spelling, or both`() throws {
        for json in [#"{"userId":"u"}"#, #"{"user_id":"u"}"#, #"{"userId":"u","user_id":"\u0075"}"#] {
            #expect(try user(json) == .identified("u"))
        }
        for json in [#"{"userId":null}"#, #"{"user_id":""}"#, #"{"userId":null,"user_id":""}"#] {
            #expect(try user(json) == .anonymous)
        }
        #expect(try user("{}") == ReportedUser(.absent, name: "userId"))
        #expect(try user(#"{"user_id":7}"#) == ReportedUser(.integer(7), name: "userId"))
    }

    @Test(arguments: [
        #"{"userId":"u","user_id":"v"}"#, #"{"userId":"u","user_id":null}"#, #"{"userId":"","user_id":"u"}"#,
        #"{"userId":"7","user_id":7}"#, #"{"userId":7,"user_id":8}"#, #"{"userId":null,"user_id":false}"#,
        #"{"userId":[],"user_id":[]}"#, #"{"userId":"\u00e9","user_id":"e\u0301"}"#,
    ])
    func `refuses two spellings that differ`(_ json: String) throws { #expect(try user(json) == .namesTwo) }

    @Test func `asks every level`() throws {
        #expect(try user(#"{"userId":"u"}"#, also: ["{}", #"{"user_id":"u"}"#]) == .identified("u"))
        #expect(try user("{}", also: [#"{"user_id":"u"}"#]) == .identified("u"))
        #expect(try user("[]", also: ["null", "7"]) == ReportedUser(.absent, name: "userId"))
        #expect(try user(#"{"userId":"u"}"#, also: [#"{"user_id":"v"}"#]) == .namesTwo)
        #expect(try user(#"{"userId":"u"}"#, also: ["{}", #"{"userId":null}"#]) == .namesTwo)
        #expect(try user(#"{"userId":"u"}"#, also: [#"{"userId":"u","user_id":"v"}"#]) == .namesTwo)
        #expect(try user("{}", also: [#"{"userId":"u"}"#, #"{"userId":"v"}"#]) == .namesTwo)
    }

    @Test func `bounds an id, by bytes or by characters`() throws {
        func json(_ id: String) -> String { #"{"userId":"\#(id)"}"# }
        let key = String(repeating: "\u{1F511}", count: 256)
        #expect(try user(json(key)) == .identified(key))
        #expect(try user(json(key), within: .characters(256)) == .identified(key))
        for limit in [IdentifierLimit.standard, .characters(256)] {
            guard case .unusable(let rejection) = try user(json(key + "x"), within: limit) else {
                Issue.record("it is usable")
                continue
            }
            #expect(rejection.code == .malformedReport)
            #expect(rejection.detail.contains("userId") && rejection.detail.contains(limit.text))
        }
        #expect(IdentifierLimit.bytes(2).admits("\u{E9}") && !IdentifierLimit.bytes(1).admits("\u{E9}"))
        #expect(IdentifierLimit.characters(1).admits("\u{E9}") && !IdentifierLimit.characters(1).admits("e\u{301}"))
        #expect(!IdentifierLimit.characters(4).admits(String(repeating: "a", count: 1 << 20)))
        #expect(IdentifierLimit.bytes(0).admits("") && IdentifierLimit.characters(0).admits(""))
    }

    @Test func `bounds whom a batch job names`() throws {
        func subject(_ id: String, _ limit: IdentifierLimit = .standard) throws -> Subject {
            try Subject(reissuing: JSONDocument(parsing: Array("\"\(id)\"".utf8)).root, within: limit)
        }
        #expect(try subject("u") == Subject(user: "u"))
        #expect(try subject(String(repeating: "u", count: 1024)).user?.count == 1024)
        let long = #expect(throws: Rejection.self) { try subject(String(repeating: "u", count: 1025)) }
        #expect(long?.code == .malformedReport)
        #expect(long?.detail.contains("1024 bytes") == true)
        let empty = #expect(throws: Rejection.self) { try subject("") }
        #expect(empty?.code == .missingUser)
        let longer = #expect(throws: Rejection.self) { try subject("uuu", .characters(2)) }
        #expect(longer?.code == .malformedReport)
    }
}
