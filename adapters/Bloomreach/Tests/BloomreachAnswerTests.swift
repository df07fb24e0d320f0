import AdapterKit
import AdapterTestKit
import AdapterTestSupport
import BloomreachAdapter
import Testing

@Suite struct BloomreachAnswerTests {
    /// An answer about the customer `email_id` e, `registered` r, and its verdict.
    struct Answer: CustomStringConvertible {
        let status: Int
        let body: String
        let word: String

        init(_ status: Int, _ body: String, _ word: String) {
            self.status = status
            self.body = body
            self.word = word
        }

        /// A success with these values.
        init(values: String..., word: String) {
            let results = values.map { #"{"success":true,"value":\#($0)}"# }.joined(separator: ",")
            self.init(200, #"{"results":[\#(results)],"success":true}"#, word)
        }

        /// A success with these results.
        init(results: String, word: String) { self.init(200, #"{"results":[\#(results)],"success":true}"#, word) }

        var description: String { "\(status) \(body.prefix(100))" }
    }

    private static let good =
        #"{"results":[{"success":true,"value":"e"},{"success":true,"value":"r"}],"success":true}"#
    private static let unknown = #"{"errors":{"_global":["Customer does not exist"]},"success":false}"#

    private static let confirming = [
        Answer(200, good, "exists"),
        Answer(201, good, "exists"),
        Answer(values: #"["e"]"#, #"["x","r"]"#, word: "exists"),
        Answer(values: #""\u0065""#, #""r""#, word: "exists"),
        Answer(values: #""x""#, #""r""#, word: "mismatched"),
        Answer(values: #""e""#, #""x""#, word: "mismatched"),
        Answer(values: #""r""#, #""e""#, word: "mismatched"),
        Answer(values: #""E""#, #""r""#, word: "mismatched"),
        Answer(values: #""e ""#, #""r""#, word: "mismatched"),
        Answer(values: "null", #""r""#, word: "mismatched"),
        Answer(values: #""e""#, "null", word: "mismatched"),
        Answer(values: "7", #""r""#, word: "mismatched"),
        Answer(values: #""e""#, "true", word: "mismatched"),
        Answer(values: "[]", #""r""#, word: "mismatched"),
        Answer(values: #"["x"]"#, #""r""#, word: "mismatched"),
        Answer(values: #"[["e"]]"#, #""r""#, word: "mismatched"),
        Answer(values: #"{"e":"e"}"#, #""r""#, word: "mismatched"),
    ]

    private static let unreadable = [
        Answer(values: #""e""#, word: "unreadable"),
        Answer(values: #""e""#, #""r""#, #""r""#, word: "unreadable"),
        Answer(results: "", word: "unreadable"),
        Answer(results: #""e","r""#, word: "unreadable"),
        Answer(results: #"{"value":"e"},{"value":"r"}"#, word: "unreadable"),
        Answer(results: #"{"success":"true","value":"e"},{"success":true,"value":"r"}"#, word: "unreadable"),
        Answer(results: #"{"success":true},{"success":true,"value":"r"}"#, word: "unreadable"),
        Answer(results: #"{"success":false},{"success":true,"value":"r"}"#, word: "unreadable"),
        Answer(results: #"{"success":false,"error":7},{"success":true,"value":"r"}"#, word: "unreadable"),
        Answer(results: #"{"success":false,"value":"e"},{"success":true,"value":"r"}"#, word: "unreadable"),
        Answer(200, #"{"results":{},"success":true}"#, "unreadable"),
        Answer(200, #"{"success":true}"#, "unreadable"),
        Answer(200, #"{"results":[{"success":true,"value":"e"},{"success":true,"value":"r"}]}"#, "unreadable"),
        Answer(
            200, #"{"results":[{"success":true,"value":"e"},{"success":true,"value":"r"}],"success":false}"#,
            "unreadable"),
        Answer(
            200, #"{"results":[{"success":true,"value":"e"},{"success":true,"value":"r"}],"success":1}"#, "unreadable"),
        Answer(200, "", "unreadable"),
        Answer(200, "{}", "unreadable"),
        Answer(200, "[]", "unreadable"),
        Answer(200, "null", "unreadable"),
        Answer(200, "<html>", "unreadable"),
        Answer(200, String(good.dropLast()), "unreadable"),
        Answer(200, good + "x", "unreadable"),
        Answer(0, good, "unreadable"),
    ]

    private static let notFound = [
        Answer(404, unknown, "unknown"),
        Answer(200, unknown, "unknown"),
        Answer(400, unknown, "unknown"),
        Answer(404, "", "unknown"),
        Answer(404, #"{"success":false}"#, "unknown"),
        Answer(404, #"{"success":false,"error":"not found"}"#, "unknown"),
        Answer(200, #"{"errors":["Customer does not exist"],"success":false}"#, "unknown"),
        Answer(200, #"{"errors":"customer does not exist.","success":false}"#, "unknown"),
        Answer(200, #"{"error":"Customer does not exist","success":false}"#, "unknown"),
        Answer(200, #"{"errors":{"code":7,"description":"Customer does not exist"},"success":false}"#, "unknown"),
        Answer(
            200, #"{"errors":[{"code":"not_found","description":"Customer does not exist"}],"success":false}"#,
            "unknown"),
        Answer(
            results:
                #"{"success":false,"errors":{"_global":["Customer does not exist"]}},{"success":true,"value":"r"}"#,
            word: "unknown"),
        Answer(200, #"{"error":"A customer does not exist here","success":false}"#, "unreadable"),
        Answer(200, #"{"success":false,"value":"Customer does not exist"}"#, "unreadable"),
        Answer(404, "<html>404</html>", "misconfigured"),
        Answer(404, "{}", "misconfigured"),
        Answer(404, #"{"message":"no Route matched"}"#, "misconfigured"),
        Answer(404, #"{"success":false,"error":"access key not found"}"#, "misconfigured"),
        Answer(404, #"{"success":false,"errors":["project not found"]}"#, "misconfigured"),
        Answer(404, good, "misconfigured"),
    ]

    private static let refused = [
        Answer(
            results: #"{"error":"No permission","success":false},{"success":true,"value":"r"}"#, word: "misconfigured"),
        Answer(
            results: #"{"success":true,"value":"e"},{"errors":["no permission"],"success":false}"#,
            word: "misconfigured"),
        Answer(200, #"{"success":false,"error":"access key not found"}"#, "misconfigured"),
        Answer(
            200, #"{"success":false,"errors":["not authorized to update specified customer properties"]}"#,
            "misconfigured"),
        Answer(401, #"{"success":false,"error":"access key not found"}"#, "misconfigured"),
        Answer(302, good, "misconfigured"), Answer(400, good, "misconfigured"), Answer(401, good, "misconfigured"),
        Answer(403, good, "misconfigured"), Answer(409, good, "misconfigured"), Answer(408, good, "unavailable"),
        Answer(429, good, "throttled"), Answer(429, "", "throttled"), Answer(500, good, "unavailable"),
        Answer(503, "<html>", "unavailable"),
    ]

    private let adapter: any StubbedAdapter
    private let customer = Subject(identifiers: [
        .init(name: "registered", value: "r"), .init(name: "email_id", value: "e"),
    ])

    init() throws { adapter = try makeAdapter(BloomreachAdapter.self, BloomreachLookupTests.stream) }

    private func word(_ status: Int, _ body: [UInt8], _ subject: Subject) -> String {
        adapter.verdicts(from: LookupResponse(status: status, body: body), for: [subject]).map(\.word).joined()
    }

    @Test(arguments: confirming + unreadable + notFound + refused)
    func `Bloomreach's answers about a customer are understood`(_ answer: Answer) {
        #expect(word(answer.status, Array(answer.body.utf8), customer) == answer.word)
    }

    @Test(arguments: [
        ("\u{E9}va", "\u{E9}va", "exists"), ("\u{E9}va", "e\u{301}va", "mismatched"),
        ("e\u{301}va", "\u{E9}va", "mismatched"), (#"a"b\c"#, #"a\"b\\c"#, "exists"),
        ("\u{0}\n\u{1F511}", #"\u0000\n\ud83d\udd11"#, "exists"), ("00012345", "12345", "mismatched"),
    ])
    func `a customer is found by the id's bytes alone`(_ id: String, _ json: String, _ expected: String) {
        let subject = Subject(identifiers: [.init(name: "registered", value: id)])
        for value in ["\"\(json)\"", "[\"x\",\"\(json)\"]"] {
            let body = #"{"success":true,"results":[{"success":true,"value":\#(value)}]}"#
            #expect(word(200, Array(body.utf8), subject) == expected)
        }
    }

    @Test func `a very long list of ids is read from Bloomreach's answer`() {
        let ids = (0..<50_000).map { "\"c-\($0)\"" }.joined(separator: ",")
        let body = Array(#"{"success":true,"results":[{"success":true,"value":[\#(ids)]}]}"#.utf8)
        #expect(word(200, body, Subject(identifiers: [.init(name: "ga", value: "c-49999")])) == "exists")
        #expect(word(200, body, Subject(identifiers: [.init(name: "ga", value: "c-x")])) == "mismatched")
    }

    /// Answers damaged in a seeded way: nothing crashes, and nobody exists whose ids are not in the answer.
    @Test func `a damaged answer invents nobody`() throws {
        let good = Array(Self.good.utf8), unknown = Array(Self.unknown.utf8)
        let bodies =
            HostileBodies.damaging(good, 6000, seed: 0xB100) + HostileBodies.damaging(unknown, 2000, seed: 0xB101)
            + HostileBodies.random(2000, seed: 0xB102) + HostileBodies.all
        var found: Set<String> = []
        for body in bodies {
            let word = word(200, body, customer)
            found.insert(word)
            guard word == "exists" else { continue }
            let results = try JSONDocument(parsing: body).root["results"]?.elements ?? []
            #expect(results.map { $0["value"]?.string } == ["e", "r"])
        }
        // The damage reaches every corner of the reader.
        #expect(found == ["exists", "unknown", "mismatched", "unreadable"])
    }
}
