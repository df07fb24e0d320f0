import AdapterKit
import Testing

@Suite struct ReportUserTests {
    private func user(_ json: String, also levels: [String] = []) throws -> ReportedUser {
        func report(_ json: String) throws -> Report {
            Report(try JSONDocument(parsing: Array(json.utf8)).root, observedAt: UnixTime(seconds: 0))
        }
        return try report(json).user("userId", "user_id", alsoIn: try levels.map(report))
    }

    @Test func `one user is read under either spelling, or both`() throws {
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
    func `two spellings that differ name two users`(_ json: String) throws { #expect(try user(json) == .namesTwo) }

    @Test func `a user is looked for on every level, and two that differ are two users`() throws {
        #expect(try user(#"{"userId":"u"}"#, also: ["{}", #"{"user_id":"u"}"#]) == .identified("u"))
        #expect(try user("{}", also: [#"{"user_id":"u"}"#]) == .identified("u"))
        #expect(try user("[]", also: ["null", "7"]) == ReportedUser(.absent, name: "userId"))
        #expect(try user(#"{"userId":"u"}"#, also: [#"{"user_id":"v"}"#]) == .namesTwo)
        #expect(try user(#"{"userId":"u"}"#, also: ["{}", #"{"userId":null}"#]) == .namesTwo)
        #expect(try user(#"{"userId":"u"}"#, also: [#"{"userId":"u","user_id":"v"}"#]) == .namesTwo)
        #expect(try user("{}", also: [#"{"userId":"u"}"#, #"{"userId":"v"}"#]) == .namesTwo)
    }
}
