import AdapterKit
import AdapterTestKit
import AdapterTestSupport
import BrazeAdapter
import Testing

@Suite struct BrazeAnswerTests {
    /// An answer to the question about `u-1` and `u-2`, and its verdict on each.
    struct Answer: CustomStringConvertible {
        let status: Int
        let body: String
        let first: String
        let second: String

        init(_ status: Int, _ body: String, _ first: String, _ second: String? = nil) {
            self.status = status
            self.body = body
            self.first = first
            self.second = second ?? first
        }

        var description: String { "\(status) \(body.prefix(100))" }
    }

    private static let both = #"{"message":"success","users":[{"external_id":"u-1"},{"external_id":"u-2"}]}"#

    private static let understood = [
        Answer(200, both, "exists"),
        Answer(201, both, "exists"),
        Answer(200, #"{"message":"Success","users":[{"external_id":"u-2"},{"external_id":"u-1"}]}"#, "exists"),
        Answer(
            200,
            #"{"message":"success","users":[{"external_id":"u-1","braze_id":"b","user_aliases":[{"alias_name":"u-2","alias_label":"l"}]}]}"#,
            "exists", "unknown"),
        Answer(
            200, #"{"message":"success","users":[{"external_id":"u-1"}],"invalid_user_ids":["u-2"]}"#, "exists",
            "unknown"),
        Answer(200, #"{"message":"success","users":[],"invalid_user_ids":["u-1","u-2"]}"#, "unknown"),
        Answer(200, #"{"message":"success","users":[]}"#, "unknown"),
        Answer(200, #"{"message":"success","users":[],"invalid_user_ids":null,"errors":[]}"#, "unknown"),
        Answer(
            200, #"{"message":"success","users":[{"external_id":"u-1"},{"external_id":"u-1"}]}"#, "exists", "unknown"),
        Answer(200, #"{"message":"success","users":[{"external_id":"\u0075-1"}]}"#, "exists", "unknown"),
    ]

    private static let ofOthers = [
        Answer(200, #"{"message":"success","users":[{"external_id":"u-9"}]}"#, "mismatched"),
        Answer(
            200, #"{"message":"success","users":[{"external_id":"u-1"},{"external_id":"u-9"}]}"#, "exists",
            "mismatched"),
        Answer(
            200, #"{"message":"success","users":[{"external_id":"u-9"}],"invalid_user_ids":["u-2"]}"#, "mismatched",
            "unknown"),
        Answer(200, #"{"message":"success","users":[{"external_id":"U-1"}]}"#, "mismatched"),
        Answer(200, #"{"message":"success","users":[{"external_id":"u-1 "}]}"#, "mismatched"),
        Answer(200, #"{"message":"success","users":[{"external_id":"u-"}]}"#, "mismatched"),
        Answer(200, #"{"message":"success","users":[{"braze_id":"u-1"}]}"#, "mismatched"),
        Answer(200, #"{"message":"success","users":[{"external_id":null}]}"#, "mismatched"),
        Answer(200, #"{"message":"success","users":[{"user_aliases":[{"alias_name":"u-1"}]}]}"#, "mismatched"),
    ]

    private static let unclear = [
        Answer(
            200, #"{"message":"success","users":[{"external_id":"u-1"}],"invalid_user_ids":["u-1"]}"#, "unreadable",
            "unknown"),
        Answer(
            200, #"{"message":"success","users":[{"external_id":"u-1"}],"errors":["no"]}"#, "exists", "unreadable"),
        Answer(200, #"{"message":"success","users":[],"errors":"no"}"#, "unreadable"),
        Answer(200, "", "unreadable"),
        Answer(200, "{}", "unreadable"),
        Answer(200, "[]", "unreadable"),
        Answer(200, "null", "unreadable"),
        Answer(200, #"{"message":"success"}"#, "unreadable"),
        Answer(200, #"{"users":[{"external_id":"u-1"}]}"#, "unreadable"),
        Answer(200, #"{"message":"Invalid API Key","users":[]}"#, "unreadable"),
        Answer(200, #"{"message":true,"users":[]}"#, "unreadable"),
        Answer(200, #"{"message":"success","users":{}}"#, "unreadable"),
        Answer(200, #"{"message":"success","users":null}"#, "unreadable"),
        Answer(200, #"{"message":"success","users":["u-1"]}"#, "unreadable"),
        Answer(200, #"{"message":"success","users":[{"external_id":1}]}"#, "unreadable"),
        Answer(200, #"{"message":"success","users":[{"external_id":["u-1"]}]}"#, "unreadable"),
        Answer(200, #"{"message":"success","users":[],"invalid_user_ids":"u-1"}"#, "unreadable"),
        Answer(200, #"{"message":"success","users":[],"invalid_user_ids":[1]}"#, "unreadable"),
        Answer(200, String(both.dropLast()), "unreadable"),
        Answer(200, both + "x", "unreadable"),
        Answer(200, #"{"message":"success","users":[{"external_id":"u-1","external_id":"u-2"}]}"#, "unreadable"),
        Answer(200, "<html>hello</html>", "unreadable"),
        Answer(0, both, "unreadable"),
        Answer(101, both, "unreadable"),
    ]

    private static let refused = [
        Answer(202, #"{"message":"queued"}"#, "throttled"),
        Answer(200, #"{"message":"queued"}"#, "throttled"),
        Answer(202, #"{"message":"queued","users":[]}"#, "throttled"),
        Answer(202, both, "exists"),
        Answer(202, "", "unreadable"),
        Answer(302, both, "misconfigured"),
        Answer(400, both, "misconfigured"),
        Answer(401, both, "misconfigured"),
        Answer(401, #"{"message":"Invalid API Key"}"#, "misconfigured"),
        Answer(403, both, "misconfigured"),
        Answer(404, both, "misconfigured"),
        Answer(404, #"{"message":"success","users":[]}"#, "misconfigured"),
        Answer(413, both, "misconfigured"),
        Answer(408, both, "unavailable"),
        Answer(429, both, "throttled"),
        Answer(500, both, "unavailable"),
        Answer(503, "", "unavailable"),
    ]

    private let adapter: any StubbedAdapter

    init() throws { adapter = try makeAdapter(BrazeAdapter.self, "{}") }

    private func words(_ body: String, _ users: [String], status: Int = 200) -> [String] {
        adapter.verdicts(
            from: LookupResponse(status: status, body: Array(body.utf8)), for: users.map { Subject(user: $0) }
        ).map(\.word)
    }

    @Test(arguments: understood + ofOthers + unclear + refused)
    func `Braze's answers about users are understood`(_ answer: Answer) {
        #expect(words(answer.body, ["u-1", "u-2"], status: answer.status) == [answer.first, answer.second])
    }

    @Test func `an id is found by its bytes alone`() {
        let composed = "\u{E9}va", decomposed = "e\u{301}va"
        let users = [composed, decomposed]
        let body = { (id: String) in #"{"message":"success","users":[{"external_id":"\#(id)"}]}"# }
        #expect(words(body(composed), users) == ["exists", "unknown"])
        #expect(words(body(decomposed), users) == ["unknown", "exists"])
        #expect(words(body(composed), [decomposed]) == ["mismatched"])
        let invalid = #"{"message":"success","users":[],"invalid_user_ids":["\#(composed)"]}"#
        #expect(words(invalid, users) == ["unknown", "unknown"])
        let quoted = #"{"message":"success","users":[{"external_id":"a\"b\\c\n\u0000\ud83d\udd11"}]}"#
        #expect(words(quoted, ["a\"b\\c\n\u{0}\u{1F511}"]) == ["exists"])
    }

    @Test func `one user asked about twice gets the verdict twice`() {
        let body = #"{"message":"success","users":[{"external_id":"u-1"}]}"#
        #expect(words(body, ["u-1", "u-2", "u-1"]) == ["exists", "unknown", "exists"])
    }

    @Test func `an answer of Braze that names very many users is read`() {
        let users = (0..<20_000).map { #"{"external_id":"u-\#($0)"}"# }.joined(separator: ",")
        let body = #"{"message":"success","users":[\#(users)]}"#
        #expect(words(body, ["u-19999", "u-x"]) == ["exists", "mismatched"])
        let invalid = (0..<20_000).map { "\"u-\($0)\"" }.joined(separator: ",")
        #expect(
            words(#"{"message":"success","users":[],"invalid_user_ids":[\#(invalid)]}"#, ["u-19999", "u-x"])
                == ["unknown", "unknown"])
    }

    @Test func `the detail of Braze's refusal names what to fix`() {
        func detail(_ status: Int) -> String {
            let verdicts = adapter.verdicts(from: LookupResponse(status: status, body: []), for: [Subject(user: "u")])
            guard case .unanswered(let failure) = verdicts.first else { return "" }
            return failure.detail
        }
        #expect(detail(401).contains("REST API key"))
        #expect(detail(403).contains("plan"))
        #expect(detail(404).contains("instance"))
        #expect(detail(400).contains("body"))
    }

    /// Answers damaged in a seeded way: nothing crashes, and nobody exists whose id is not in the answer.
    @Test func `a damaged answer invents nobody`() throws {
        let good = Array(
            #"{"message":"success","users":[{"external_id":"u-1","braze_id":"b-1"},{"external_id":"u-2"}],"invalid_user_ids":["u-3"]}"#
                .utf8)
        let bodies =
            HostileBodies.damaging(good, 6000, seed: 0xB4A2E) + HostileBodies.random(2000, seed: 0xB4A2F)
            + HostileBodies.all
        let users = ["u-1", "u-2", "u-3", "u-4"]
        var found: Set<String> = []
        for body in bodies {
            let verdicts = adapter.verdicts(
                from: LookupResponse(status: 200, body: body), for: users.map { Subject(user: $0) })
            #expect(verdicts.count == users.count)
            for (user, verdict) in zip(users, verdicts) {
                found.insert(verdict.word)
                if verdict.word == "exists" {
                    let ids = try JSONDocument(parsing: body).root["users"]?.elements.map { $0["external_id"]?.string }
                    #expect(ids?.contains(user) == true)
                }
            }
        }
        // The damage reaches every corner of the reader.
        #expect(found == ["exists", "unknown", "mismatched", "unreadable"])
    }
}
