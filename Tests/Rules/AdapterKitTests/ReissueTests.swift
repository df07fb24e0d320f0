import AdapterKit
import Testing

/// A batch job's request and the code it is rejected with.
struct BadReissue: CustomTestStringConvertible {
    let json: String
    let code: ErrorCode

    init(_ json: String, _ code: ErrorCode) {
        self.json = json
        self.code = code
    }

    var testDescription: String { json }
}

@Suite struct ReissueTests {
    private func read(_ json: String) throws -> Reading {
        try Reissue.read(JSONDocument(parsing: Array(json.utf8)).root, for: makeAdapter())
    }

    private func makeAdapter() throws -> SampleAdapter { try SampleAdapter(settings: .init(color: "red")) }

    @Test func `a reissue request asks for a token of its user`() throws {
        let expected = AuthenticationFailure(
            subject: Subject(user: "u-1"), reason: "REISSUE", evidence: .none, remedy: .mint)
        #expect(try read(#"{"user":"u-1"}"#) == .failure(expected))
        #expect(try read(#"{"user":"u-1","why":"rotation"}"#) == .failure(expected))
    }

    @Test func `the request for one id and for several ids is written in its own form`() {
        #expect(Reissue.request(for: Array(#""u-1""#.utf8)) == Array(#"{"user":"u-1"}"#.utf8))
        #expect(Reissue.request(for: Array(#"{"a":"b"}"#.utf8)) == Array(#"{"ids":{"a":"b"}}"#.utf8))
    }

    private static let bad: [BadReissue] = [
        .init(#"null"#, .missingUser),
        .init(#""u-1""#, .missingUser),
        .init(#"{}"#, .missingUser),
        .init(#"{"user":null}"#, .missingUser),
        .init(#"{"user":""}"#, .missingUser),
        .init(#"{"user":1001}"#, .malformedReport),
        .init(#"{"user":{"registered":"r"}}"#, .malformedReport),
        .init(#"{"user":["u"]}"#, .malformedReport),
        .init(#"{"ids":{"registered":"r"}}"#, .malformedReport),
        .init(#"{"user":"u","ids":{"registered":"r"}}"#, .malformedEvent),
    ]

    @Test(arguments: bad) func `a reissue request without a usable user is rejected`(_ sample: BadReissue) throws {
        guard case .rejected(let rejection) = try read(sample.json) else {
            Issue.record("it was taken")
            return
        }
        #expect(rejection.code == sample.code)
        #expect(rejection.detail.contains("reissue"))
    }

    @Test func `an adapter without look-ups has no terms and no secret`() throws {
        let adapter = try makeAdapter()
        #expect(adapter.lookups == nil)
        #expect(adapter.termsOfLookups == nil)
        #expect(adapter.secretEncoding == nil)
    }
}

extension SampleAdapter.Settings {
    init(color: String) {
        self.color = color
        size = nil
    }
}
