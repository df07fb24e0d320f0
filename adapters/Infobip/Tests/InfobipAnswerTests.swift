import AdapterKit
import AdapterTestSupport
import InfobipAdapter
import Testing

@Suite struct InfobipAnswerTests {
    private static let adapter = Result { try makeAdapter(InfobipAdapter.self, #"{"application_code":"A"}"#) }
    private static let refusal = #"{"requestError":{"serviceException":{"messageId":"X","text":"x"}}}"#

    /// The answers that mean the same for one person and for several.
    private static let common: [AnswerSample] = [
        .init(200, "", "unreadable"), .init(200, "{}", "unreadable"), .init(200, "null", "unreadable"),
        .init(200, "[]", "unreadable"), .init(200, "<html>", "unreadable"), .init(204, "", "unreadable"),
        .init(202, #"{"externalId":"u-1","matches":[]}"#, "unreadable"), .init(307, "", "misconfigured"),
        .init(400, refusal, "misconfigured"), .init(401, refusal, "misconfigured"),
        .init(403, refusal, "misconfigured"), .init(409, "", "misconfigured"), .init(408, "", "unavailable"),
        .init(429, refusal, "throttled"), .init(500, refusal, "unavailable"), .init(502, "<html>", "unavailable"),
        .init(503, #"{"externalId":"u-1"}"#, "unavailable"),
    ]

    private static let persons: [AnswerSample] = [
        .init(200, #"{"id":1,"externalId":"u-1","firstName":"Ann","contactInformation":{"push":[]}}"#, "exists"),
        .init(200, #"{"externalId":"\u0075-1"}"#, "exists"),
        // Somebody else's person is one of the two answers for a missing one.
        .init(200, #"{"id":1,"externalId":"u-2"}"#, "unknown"), .init(200, #"{"externalId":"U-1"}"#, "unknown"),
        .init(200, #"{"externalId":"u-1 "}"#, "unknown"), .init(200, #"{"externalId":""}"#, "unknown"),
        .init(200, #"{"externalId":1}"#, "unreadable"), .init(200, #"{"externalId":null}"#, "unreadable"),
        .init(200, #"{"id":1}"#, "unreadable"), .init(200, #"{"persons":[{"externalId":"u-1"}]}"#, "unreadable"),
        .init(200, #"{"externalId":"u-1""#, "unreadable"),
        .init(200, #"{"externalId":"u-1","externalId":"u-1"}"#, "unreadable"),
        .init(404, #"{"requestError":{"serviceException":{"messageId":"NOT_FOUND","text":"x"}}}"#, "unknown"),
        .init(404, "", "unknown"),
    ]

    @Test(arguments: common + persons) func `Infobip's answers about a person are understood`(_ sample: AnswerSample)
        throws
    {
        #expect(try Self.adapter.get().words(on: sample.response, for: [Subject(user: "u-1")]) == [sample.meaning])
    }

    @Test(arguments: common + [AnswerSample(404, refusal, "misconfigured")])
    func `a refused match is the same verdict for each user`(_ sample: AnswerSample) throws {
        let subjects = ["u-1", "u-2", ""].map { Subject(user: $0) }
        #expect(
            try Self.adapter.get().words(on: sample.response, for: subjects)
                == Array(repeating: sample.meaning, count: 3))
    }

    private static func match(_ id: String, type: String = "EXTERNAL_ID") -> String {
        #"{"type":"\#(type)","identifier":"\#(id)","personId":7}"#
    }

    /// The identities of an answer, and its verdict on u-1, u-2 and a user without an id.
    private static let matches: [TokenSample] = [
        .init("[\(match("u-1")),\(match("u-2"))]", "exists exists unknown"),
        .init("[\(match("u-2")),\(match("u-1"))]", "exists exists unknown"),
        .init("[\(match("u-2"))]", "unknown exists unknown"), .init("[]", "unknown unknown unknown"),
        .init("[\(match("u-1")),\(match("u-1"))]", "exists unknown unknown"),
        .init("[\(match("u-1")),\(match("u-3"))]", "exists mismatched unknown"),
        .init("[\(match("U-1"))]", "mismatched mismatched unknown"),
        .init("[\(match(""))]", "mismatched mismatched unknown"),
        .init("[\(match("u-1", type: "PHONE")),\(match("u-2"))]", "mismatched exists unknown"),
        .init(#"[{"type":"EXTERNAL_ID","identifier":"u-1"}]"#, "unreadable unreadable unreadable"),
        .init(
            #"[{"type":"EXTERNAL_ID","identifier":"u-1","personId":null}]"#, "unreadable unreadable unreadable"),
        .init(#"[{"identifier":"u-1","personId":1}]"#, "unreadable unreadable unreadable"),
        .init("[\(match("u-1")),7]", "unreadable unreadable unreadable"),
        .init(#"["u-1","u-2"]"#, "unreadable unreadable unreadable"),
        .init("null", "unreadable unreadable unreadable"), .init("{}", "unreadable unreadable unreadable"),
    ]

    @Test(arguments: matches) func `a match has a verdict for each user`(_ sample: TokenSample) throws {
        let subjects = ["u-1", "u-2", ""].map { Subject(user: $0) }
        let response = LookupResponse(status: 200, body: Array("{\"matches\":\(sample.json)}".utf8))
        #expect(
            try Self.adapter.get().words(on: response, for: subjects).joined(separator: " ") == sample.verdict)
    }

    @Test func `another spelling of an accent in Infobip's answer is another user`() throws {
        let adapter = try Self.adapter.get()
        let composed = Subject(user: "\u{E9}"), decomposed = Subject(user: "e\u{301}")
        let person = AnswerSample(200, "{\"externalId\":\"\u{E9}\"}", "").response
        #expect(adapter.words(on: person, for: [composed]) == ["exists"])
        #expect(adapter.words(on: person, for: [decomposed]) == ["unknown"])
        let match = AnswerSample(200, "{\"matches\":[\(Self.match("e\u{301}"))]}", "").response
        #expect(adapter.words(on: match, for: [composed, decomposed]) == ["unknown", "exists"])
    }

    @Test func `a user without an id matches no person`() throws {
        let adapter = try Self.adapter.get()
        for id in ["", " "] {
            let person = AnswerSample(200, "{\"externalId\":\"\(id)\"}", "").response
            #expect(adapter.words(on: person, for: [Subject(user: id)]) == ["unknown"])
        }
        let named = Subject(identifiers: [.init(name: "a", value: "u-1")])
        #expect(
            adapter.words(on: AnswerSample(200, #"{"externalId":"u-1"}"#, "").response, for: [named]) == ["unknown"])
        #expect(adapter.words(on: AnswerSample(200, #"{"externalId":"u-1"}"#, "").response, for: []).isEmpty)
    }
}
