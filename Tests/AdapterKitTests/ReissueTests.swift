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
    private func read(_ json: String) throws -> Reading? { try Reissue.read(Report(json), for: makeAdapter()) }

    private func makeAdapter() throws -> SampleAdapter { try SampleAdapter(settings: .init(color: "red")) }

    @Test func `asks for a token of the user it names`() throws {
        let expected = AuthenticationFailure(subject: Subject(user: "u-1"), reason: "REISSUE", remedy: .mint)
        #expect(try read(#"{"reissue":{"user":"u-1"}}"#) == .failure(expected))
        #expect(try read(#"{"reissue":{"user":"u-1","why":"rotation"},"x":1}"#) == .failure(expected))
    }

    @Test(arguments: [#"{}"#, #"{"user":"u-1"}"#, #"[]"#, #"null"#, #""reissue""#, #"{"Reissue":{"user":"u"}}"#])
    func `leaves an SDK's report to the adapter`(_ json: String) throws {
        #expect(try read(json) == nil)
    }

    private static let bad: [BadReissue] = [
        .init(#"{"reissue":null}"#, .missingUser),
        .init(#"{"reissue":"u-1"}"#, .missingUser),
        .init(#"{"reissue":{}}"#, .missingUser),
        .init(#"{"reissue":{"user":null}}"#, .missingUser),
        .init(#"{"reissue":{"user":""}}"#, .missingUser),
        .init(#"{"reissue":{"user":1001}}"#, .malformedReport),
        .init(#"{"reissue":{"user":{"registered":"r"}}}"#, .malformedReport),
        .init(#"{"reissue":{"user":["u"]}}"#, .malformedReport),
    ]

    @Test(arguments: bad) func `rejects a request without a usable user`(_ sample: BadReissue) throws {
        guard case .rejected(let rejection)? = try read(sample.json) else {
            Issue.record("it was taken")
            return
        }
        #expect(rejection.code == sample.code)
        #expect(rejection.detail.contains("reissue"))
    }

    @Test func `an adapter without a look-up asks nothing and learns nothing`() throws {
        let adapter = try makeAdapter()
        let subjects = [Subject(user: "a"), Subject(user: "b")]
        #expect(adapter.lookup(for: subjects, mode: .verify) == .none)
        let verdicts = adapter.verdicts(from: LookupResponse(status: 200, body: Array("{}".utf8)), for: subjects)
        let failure = LookupVerdict.unanswered(LookupFailure(.unreadable, "no look-up was asked for"))
        #expect(verdicts == [failure, failure])
        #expect(adapter.lookupTerms == nil)
        #expect(adapter.secretEncoding == nil)
    }
}

extension SampleAdapter.Settings {
    init(color: String) {
        self.color = color
        size = nil
    }
}
