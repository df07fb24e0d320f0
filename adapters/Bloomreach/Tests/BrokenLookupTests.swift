import AdapterKit
import AdapterTestKit
import BloomreachAdapter
import Foundation
import Testing

/// The conformance suite finds each way to break a promise of the look-up: this adapter with one flaw at a time.
@Suite struct BrokenLookupTests {
    struct Sample: CustomStringConvertible {
        let description: String
        let registration: AdapterRegistry.Registration
        let violation: String

        init<F: Flaw>(_ flaw: F.Type, _ violation: String) {
            description = "\(flaw)"
            registration = .init(FlawedAdapter<F>.self)
            self.violation = violation
        }
    }

    private static let samples = [
        Sample(SkipsTheLast.self, "each user in exactly one request"),
        Sample(AsksTwice.self, "each user in exactly one request"),
        Sample(AsksBackwards.self, "in their order"),
        Sample(AsksAboutAll.self, "more than 1 in a request"),
        Sample(AsksWhenOff.self, "lookup(mode: .off) asks"),
        Sample(NeverAsks.self, "lookup(mode: .verify) asks nothing"),
        Sample(LeavesPathsRaw.self, "not percent-encoded"),
        Sample(ForgetsTheSlash.self, "does not begin with one slash"),
        Sample(GetsWithBody.self, "a GET has a body"),
        Sample(PostsNoJSON.self, "body is not JSON"),
        Sample(PostsPrettily.self, "a control character"),
        Sample(AsksInTheClear.self, "not https://"),
        Sample(AnswersTooLittle.self, "not one for each user"),
        Sample(TrustsTwoHundred.self, "confirms a user"),
        Sample(IgnoresStatuses.self, "with a good body is taken for an answer"),
        Sample(CallsNoiseGone.self, "taken for an answer"),
        Sample(ConfirmsTheMissing.self, "neither gone nor unknown"),
        Sample(ConfirmsOthers.self, "an answer about another user confirms one"),
        Sample(RefusesAll.self, "does not confirm every user"),
        Sample(IgnoresRefusals.self, "not refused as misconfigured"),
        Sample(ShowsUsers.self, "a failure's detail shows a user"),
        Sample(KeepsTheRevoked.self, "is evidence that the token was revoked, but does not mint"),
        Sample(BlamesTheAbsent.self, "means that there was no token, but is evidence of key, not none"),
    ]

    private func violations(_ registration: AdapterRegistry.Registration) throws -> [String] {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        return try AdapterConformance(registration, folder: folder).violations()
    }

    @Test(arguments: samples)
    func `a look-up with one flaw violates its promise`(_ sample: Sample) throws {
        let violations = try violations(sample.registration)
        #expect(violations.contains { $0.contains(sample.violation) }, "\(violations)")
    }

    @Test func `an adapter without a flaw has no violation`() throws {
        #expect(try violations(.init(FlawedAdapter<NoFlaw>.self)) == [])
    }
}

/// One thing that is wrong; everything else is as it should be.
protocol Flaw: Sendable {
    static func reading(_ reading: Reading) -> Reading
    static func terms(_ terms: LookupTerms) -> LookupTerms
    static func lookup(_ requests: [LookupRequest], _ mode: LookupMode, _ ask: () -> [LookupRequest]) -> [LookupRequest]
    static func response(_ response: LookupResponse) -> LookupResponse
    static func verdicts(_ verdicts: [LookupVerdict], _ response: LookupResponse, _ subjects: [Subject])
        -> [LookupVerdict]
}

extension Flaw {
    static func reading(_ reading: Reading) -> Reading { reading }
    static func terms(_ terms: LookupTerms) -> LookupTerms { terms }
    static func lookup(
        _ requests: [LookupRequest], _ mode: LookupMode, _ ask: () -> [LookupRequest]
    ) -> [LookupRequest] { requests }
    static func response(_ response: LookupResponse) -> LookupResponse { response }
    static func verdicts(
        _ verdicts: [LookupVerdict], _ response: LookupResponse, _ subjects: [Subject]
    ) -> [LookupVerdict] { verdicts }
}

/// A Bloomreach adapter with a flaw.
struct FlawedAdapter<F: Flaw>: StubbedAdapter {
    static var name: String { BloomreachAdapter.name }
    static var vendor: String { BloomreachAdapter.vendor }

    private let whole: BloomreachAdapter

    init(settings: BloomreachSettings) throws(SettingsError) { whole = try BloomreachAdapter(settings: settings) }

    var algorithm: Algorithm { whole.algorithm }
    var lifetime: LifetimeBounds { whole.lifetime }
    var secretEncoding: SecretEncoding? { whole.secretEncoding }
    var keyHandover: KeyHandover { whole.keyHandover }

    func read(_ report: Report) -> Reading { F.reading(whole.read(report)) }
    func subject(reissuing user: JSONValue) throws(Rejection) -> Subject { try whole.subject(reissuing: user) }
    func subject(named claims: JSONValue) -> Subject? { whole.subject(named: claims) }
    func recipe(for subject: Subject) -> Recipe { whole.recipe(for: subject) }
    func stub(_ setting: StubSetting) -> (any VendorStub)? { whole.stub(setting) }
    var lookupTerms: LookupTerms? { whole.lookupTerms.map(F.terms) }

    func lookup(for subjects: [Subject], mode: LookupMode) -> Lookup {
        func ask(_ mode: LookupMode) -> [LookupRequest] {
            guard case .requests(let requests) = whole.lookup(for: subjects, mode: mode) else { return [] }
            return requests
        }
        let requests = F.lookup(ask(mode), mode) { ask(.verify) }
        return requests.isEmpty ? .none : .requests(requests)
    }

    func verdicts(from response: LookupResponse, for subjects: [Subject]) -> [LookupVerdict] {
        F.verdicts(whole.verdicts(from: F.response(response), for: subjects), response, subjects)
    }

    func verify(
        _ token: [UInt8], against keys: [VerificationKey], expecting subject: Subject, at time: UnixTime
    ) -> VendorVerdict { whole.verify(token, against: keys, expecting: subject, at: time) }
}

enum NoFlaw: Flaw {}
