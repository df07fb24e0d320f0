import AdapterKit
import BloomreachAdapter
import BrazeAdapter
import DeclaredAdapters
import DotdigitalAdapter
import InfobipAdapter
import OneSignalAdapter
import Testing

@testable import Pipeline

@Suite("The evidence of every code")
struct EvidenceTests {
    // MARK: What each code says

    @Test(arguments: EvidenceBench.vendors)
    func `a declared vendor's codes have the evidence that the table names`(_ name: String) throws {
        let rules = try EvidenceBench.vendor(name).description.codes
        let codes = rules.codes + [rules.missing, rules.unknown].compactMap(\.self)
        let table = EvidenceTable.declared[name] ?? [:]
        for code in codes { #expect(table[code.name] == code.evidence, "\(name) \(code.name)") }
        #expect(Set(table.keys) == Set(codes.map(\.name)), "\(name)")
    }

    /// A compiled vendor's report, and the evidence it must come to.
    struct Sample: CustomTestStringConvertible, Sendable {
        let vendor: String
        let report: String
        let reason: String
        let evidence: Evidence

        var testDescription: String { "\(vendor) \(reason)" }

        init(_ vendor: String, _ report: String, _ reason: String, _ evidence: Evidence) {
            self.vendor = vendor
            self.report = report
            self.reason = reason
            self.evidence = evidence
        }
    }

    private static func adapter(_ vendor: String) throws -> any Adapter {
        switch vendor {
        case "braze": try BrazeAdapter(settings: .init())
        case "onesignal": try OneSignalAdapter(settings: .init(appID: "a-1"))
        case "bloomreach": try BloomreachAdapter(settings: .init(mode: .stream))
        case "customer": try BloomreachAdapter(settings: .init(mode: .customerToken))
        case "dotdigital": try DotdigitalAdapter(settings: .init(issuer: "i", audience: "a"))
        default: try InfobipAdapter(settings: .init(applicationCode: "c"))
        }
    }

    private static let braze = [
        ("10", "EXPIRATION_REQUIRED", Evidence.key), ("20", "DECODING_ERROR", .key),
        ("21", "SUBJECT_MISMATCH", .none), ("22", "EXPIRED", .expired), ("23", "INVALID_PAYLOAD", .key),
        ("24", "INCORRECT_ALGORITHM", .key), ("25", "PUBLIC_KEY_ERROR", .key), ("26", "MISSING_TOKEN", .none),
        ("27", "NO_MATCHING_PUBLIC_KEYS", .key), ("28", "PAYLOAD_USER_ID_MISMATCH", .none), ("29", "UNKNOWN", .none),
    ].map { Sample("braze", #"{"errorCode":\#($0.0),"userId":"u"}"#, $0.1, $0.2) }

    private static let bloomreach = [
        ("TOKEN_NOT_PROVIDED", Evidence.none), ("TOKEN_ABOUT_TO_EXPIRE", .none), ("TOKEN_EXPIRED", .expired),
        ("TOKEN_REJECTED", .key), ("INVALID", .none), ("TOKEN_INSUFFICIENT", .none), ("UNKNOWN", .none),
    ].map { Sample("bloomreach", #"{"errorCode":"\#($0.0)","customerIds":{"registered":"u"}}"#, $0.0, $0.1) }

    private static let customer = [
        (#""empty""#, "EMPTY", Evidence.none), (#""expiring""#, "EXPIRING", .none), ("401", "HTTP_401", .key),
        ("403", "HTTP_403", .none), (#""strange""#, "UNKNOWN", .none),
    ].map { Sample("customer", #"{"reason":\#($0.0),"customerIds":{"registered":"u"}}"#, $0.1, $0.2) }

    private static let infobip = [
        ("JWT_TOKEN_EXPIRED", Evidence.expired), ("JWT_TOKEN_STRUCTURE_INVALID", .key),
        ("ACCESS_TOKEN_MISSING", .none), ("JWT_GENERIC_ERROR", .none), ("UNAUTHORIZED", .key), ("FORBIDDEN", .none),
        ("OTHER", .none),
    ].map { Sample("infobip", #"{"mm_code":"\#($0.0)","externalUserId":"u"}"#, $0.0, $0.1) }

    private static let dotdigital = [
        ("CHALLENGE", Evidence.none), ("INVALID_JWT_403", .key), ("SESSION_EXPIRED", .none), ("NO_TOKEN", .none),
    ].map { Sample("dotdigital", #"{"reason":"\#($0.0)","nonce":"n","userId":"u"}"#, $0.0, $0.1) }

    static let samples =
        braze + bloomreach + customer + infobip + dotdigital + [
            Sample("onesignal", #"{"externalId":"u"}"#, "JWT_INVALIDATED", .key),
            Sample("dotdigital", #"{"code":5554,"userId":"u"}"#, "UNEXPECTED_STATUS", .none),
        ]

    @Test(arguments: samples) func `a compiled vendor's code has its evidence`(_ sample: Sample) throws {
        let failure = try Self.failure(of: sample)
        #expect(failure.reason == sample.reason)
        #expect(failure.evidence == sample.evidence)
    }

    private static func failure(of sample: Sample) throws -> AuthenticationFailure {
        let root = try JSONDocument(parsing: Array(sample.report.utf8)).root
        guard case .failure(let failure) = try adapter(sample.vendor).read(Report(root, observedAt: TestBench.now))
        else {
            Issue.record("\(sample.testDescription) is rejected")
            throw Rejection(.malformedReport, sample.report)
        }
        return failure
    }

    // MARK: What it leads to

    /// Three reports that name the token just minted.
    private func ends(
        _ evidence: Evidence, _ remedy: Remedy, _ loopGuard: LoopGuard, isEnforced: Bool = true
    ) -> [String] {
        var teller = AdmissionTeller(AdmissionRules(subjects: 10), loopGuard)
        var minted = [teller.tell(.init(at: 0, evidence: .none, ends: ""))]
        for report in 1...3 {
            let token = "T\(minted.count { $0 == "mint" })"
            minted.append(
                teller.tell(
                    .init(
                        at: Double(report) * 10, names: token, remedy: remedy, evidence: evidence,
                        isEnforced: isEnforced, ends: "")))
        }
        return Array(minted.dropFirst())
    }

    /// The rule, written out.
    private static func expected(
        _ evidence: Evidence, _ remedy: Remedy, _ tokens: Int, isEnforced: Bool = true
    ) -> [String] {
        guard isEnforced else { return ["mint", "mint", "mint"] }
        switch evidence {
        case .key: return tokens == 1 ? ["refused", "refused", "refused"] : ["mint", "refused", "refused"]
        case .expired: return ["mint", "clock_skew", "clock_skew"]
        case .revoked: return ["mint", "mint", "mint"]
        case .none: return remedy == .mintOnce ? ["refused", "refused", "refused"] : ["mint", "mint", "mint"]
        }
    }

    @Test(arguments: EvidenceBench.vendors)
    func `three reports of a declared vendor's code end as its evidence requires`(_ name: String) throws {
        let description = try EvidenceBench.vendor(name).description
        let codes = description.codes.codes + [description.codes.missing, description.codes.unknown].compactMap(\.self)
        for code in codes where code.remedy.mints {
            let isEnforced = !code.isAhead
            #expect(
                ends(code.evidence, code.remedy, description.loop, isEnforced: isEnforced)
                    == Self.expected(
                        code.evidence, code.remedy, description.loop.tokens, isEnforced: isEnforced),
                "\(name) \(code.name)")
        }
    }

    @Test(arguments: samples)
    func `three reports of a compiled vendor's code end as its evidence requires`(_ sample: Sample) throws {
        let failure = try Self.failure(of: sample)
        guard failure.remedy.mints else { return }
        let loopGuard = try Self.adapter(sample.vendor).loopGuard
        #expect(
            ends(failure.evidence, failure.remedy, loopGuard)
                == Self.expected(failure.evidence, failure.remedy, loopGuard.tokens))
    }

    static let stories: [AdmissionStory] = [
        AdmissionStory(
            "a token that is called expired while it is not is replaced once a minute",
            [
                .init(at: 0, ends: "mint"), .init(at: 10, names: "T1", evidence: .expired, ends: "mint"),
                .init(at: 20, names: "T2", evidence: .expired, ends: "clock_skew"),
                .init(at: 70, names: "T2", evidence: .expired, ends: "clock_skew"),
                .init(at: 70.1, names: "T2", evidence: .expired, ends: "mint"),
            ]),
        AdmissionStory(
            "the device that got a token and calls it expired within the window has a wrong clock",
            [
                .init(at: 0, device: "a", evidence: .expired, ends: "mint"),
                .init(at: 10, device: "a", evidence: .expired, ends: "mint"),
                .init(at: 20, device: "a", evidence: .expired, ends: "clock_skew"),
                .init(at: 25, device: "b", evidence: .expired, ends: "mint"),
            ]),
        AdmissionStory(
            "a token that has expired is no finding",
            [.init(at: 0, ends: "mint"), .init(at: 3600, names: "T1", evidence: .expired, ends: "mint")]),
        AdmissionStory(
            "an unexpired token of another worker that is called expired is replaced",
            [
                .init(at: 0, names: "of another worker", evidence: .expired, isOfActiveKey: true, ends: "mint"),
                .init(at: 10, names: "T1", evidence: .expired, ends: "clock_skew"),
            ]),
        AdmissionStory(
            "revoked tokens are replaced up to the user's limit",
            [
                .init(at: 0, ends: "mint"), .init(at: 10, names: "T1", evidence: .revoked, ends: "mint"),
                .init(at: 11, names: "T2", evidence: .revoked, ends: "mint"),
                .init(at: 12, names: "T3", evidence: .revoked, ends: "mint"),
                .init(at: 13, names: "T4", evidence: .revoked, ends: "mint"),
                .init(at: 14, names: "T5", evidence: .revoked, ends: "refused"),
                .init(at: 14, names: "T4", evidence: .revoked, ends: "older_token"),
                .init(at: 74, names: "T5", evidence: .revoked, ends: "mint"),
            ]),
        AdmissionStory(
            "a first revocation is answered beyond the limit, the second is not",
            AdmissionStory.Event.repeated(5, every: 3, .init(at: 0, ends: "mint")) + [
                AdmissionStory.Event(at: 20, names: "T5", evidence: .revoked, ends: "mint"),
                .init(at: 21, names: "T6", evidence: .revoked, ends: "refused"),
                .init(at: 22, names: "T6", evidence: .expired, ends: "clock_skew"),
            ]),
        AdmissionStory(
            "a key that does not work differs from a revoked token",
            [
                .init(at: 0, ends: "mint"), .init(at: 10, names: "T1", evidence: .revoked, ends: "mint"),
                .init(at: 20, names: "T2", remedy: .mintOnce, evidence: .key, ends: "refused"),
            ]),
    ]

    @Test(arguments: stories) func `a report is judged by its evidence`(_ story: AdmissionStory) {
        var teller = AdmissionTeller(story.rules, story.loopGuard, lifetime: story.lifetime)
        #expect(story.events.map { teller.tell($0) } == story.events.map(\.ends))
    }

    @Test func `a remembered token needs 64 bytes`() {
        #expect(MemoryLayout<RecentMint>.stride == 64)
    }
}
