import AdapterKit
import AdapterTestSupport
import BrazeAdapter
import Testing

@Suite struct BrazeReportTests {
    private static let adapter = Result { try makeAdapter(BrazeAdapter.self, "{}") }

    /// The README's table of codes, whole.
    private static let codes: [ReportSample] = [
        ("10", "mint EXPIRATION_REQUIRED"), ("20", "mint_once DECODING_ERROR"), ("21", "mint_once SUBJECT_MISMATCH"),
        ("22", "mint EXPIRED"), ("23", "mint_once INVALID_PAYLOAD"), ("24", "mint_once INCORRECT_ALGORITHM"),
        ("25", "not_fixable PUBLIC_KEY_ERROR"), ("26", "mint MISSING_TOKEN"),
        ("27", "mint_once NO_MATCHING_PUBLIC_KEYS"),
        ("28", "not_fixable PAYLOAD_USER_ID_MISMATCH"), ("29", "not_fixable UNKNOWN"), ("0", "not_fixable UNKNOWN"),
        ("-1", "not_fixable UNKNOWN"), ("9223372036854775807", "not_fixable UNKNOWN"),
    ].map { ReportSample($0.0, "\($0.1) app/u-1001") }

    @Test(arguments: codes) func `every code of Braze has its remedy, as a number and as text`(_ code: ReportSample)
        throws
    {
        let adapter = try Self.adapter.get()
        #expect(try adapter.summary(of: #"{"code":\#(code.report),"userId":"u-1001"}"#) == code.summary)
        #expect(try adapter.summary(of: #"{"errorCode":"\#(code.report)","user_id":"u-1001"}"#) == code.summary)
        let anonymous = try adapter.summary(of: #"{"error_code":\#(code.report),"userId":null}"#)
        #expect(anonymous.hasPrefix("not_for_us "))
        #expect(!anonymous.contains("app/"))
    }

    private static let aliases: [ReportSample] = [
        .init(#"{"errorCode":22,"error_code":26,"code":25,"userId":"u-1"}"#, "mint EXPIRED app/u-1"),
        .init(#"{"error_code":26,"code":25,"userId":"u-1"}"#, "mint MISSING_TOKEN app/u-1"),
        .init(#"{"code":22,"userId":"u-1","user_id":"u-1"}"#, "mint EXPIRED app/u-1"),
        .init(#"{"code":22,"userId":"","user_id":null}"#, "not_for_us EXPIRED"),
        .init(#"{"userId":"u-1"}"#, "not_fixable UNKNOWN app/u-1"),
        .init(#"{"code":null,"userId":"u-1"}"#, "not_fixable UNKNOWN app/u-1"),
        .init(#"{"code":22}"#, "missing_user"),
        .init(#"{"code":22,"userId":5349}"#, "malformed_report"),
        .init(#"{"code":22,"userId":true}"#, "malformed_report"),
        .init(#"{"code":22,"userId":["u"]}"#, "malformed_report"),
        .init(#"{"code":22.5,"userId":"u"}"#, "malformed_report"),
        .init(#"{"code":"EXPIRED","userId":"u"}"#, "malformed_report"),
        .init(#"{"code":1e400,"userId":"u"}"#, "malformed_report"),
        .init(#"{"code":99999999999999999999,"userId":"u"}"#, "malformed_report"),
        .init(#"{"code":{},"userId":"u"}"#, "malformed_report"),
        .init(#"{"userId":"u-1","nonce":"n"}"#, "malformed_report"),
        .init(#"{"externalUserId":"u-1","code":22}"#, "missing_user"),
        .init(#"{}"#, "malformed_report"), .init(#"[]"#, "malformed_report"), .init(#"22"#, "malformed_report"),
        .init(#"null"#, "malformed_report"), .init(#""""#, "malformed_report"),
        .init(#"{"code":22,"reason":"\u0000","userId":"a/b=c%"}"#, "mint EXPIRED app/a%2Fb%3Dc%25"),
    ]

    @Test(arguments: aliases) func `the first of a member's names that holds a value counts`(_ sample: ReportSample)
        throws
    {
        #expect(try Self.adapter.get().summary(of: sample.report) == sample.summary)
    }

    private static let wrapped: [ReportSample] = [
        .init(#"{"sdkAuthenticationError":{"code":22,"userId":"u-1"}}"#, "mint EXPIRED app/u-1"),
        .init(#"{"sdkAuthenticationError":"{\"code\":22,\"userId\":\"u-1\"}"}"#, "mint EXPIRED app/u-1"),
        .init(#"{"sdkAuthenticationError":"{\"code\":\"22\",\"userId\":null}"}"#, "not_for_us EXPIRED"),
        .init(#""{\"code\":22,\"userId\":\"u-1\"}""#, "mint EXPIRED app/u-1"),
        .init(#"{"error":{"code":22,"userId":"u-1"}}"#, "mint EXPIRED app/u-1"),
        .init(#"{"error":"text","code":22,"userId":"u-1"}"#, "mint EXPIRED app/u-1"),
        .init(#"{"sdkAuthenticationError":{"code":22}}"#, "missing_user"),
        .init(#"{"sdkAuthenticationError":"{\"code\":22,\"userId\":12345}"}"#, "malformed_report"),
        .init(#"{"sdkAuthenticationError":"{code=22, reason=x, userId=u-1}"}"#, "malformed_report"),
        .init(#"{"sdkAuthenticationError":"{}"}"#, "malformed_report"),
        .init(#"{"sdkAuthenticationError":"{"}"#, "malformed_report"),
        .init(#"{"sdkAuthenticationError":null}"#, "malformed_report"),
        .init(#"{"sdkAuthenticationError":7}"#, "malformed_report"),
        .init(#"{"sdkAuthenticationError":"\"{\\\"code\\\":22}\""}"#, "malformed_report"),
    ]

    @Test(arguments: wrapped) func `reports wrapped in Flutter's strings are read`(_ sample: ReportSample) throws {
        #expect(try Self.adapter.get().summary(of: sample.report) == sample.summary)
    }

    @Test func `the failing token's hash is kept, and never the token`() throws {
        let token = "aaaa.bbbb.cccc-very-secret"
        for name in ["signature", "original_signature"] {
            let reading = try Self.adapter.get().reading(of: #"{"code":22,"userId":"u","\#(name)":"\#(token)"}"#)
            guard case .failure(let failure) = reading else {
                Issue.record("it was rejected")
                continue
            }
            #expect(failure.failedToken?.hash == TokenHash(of: token.utf8))
            #expect(!String(describing: reading).contains("very-secret"))
        }
    }

    @Test(arguments: [#""""#, #""null""#, "null", "7", "{}"]) func `an empty signature counts as no token`(
        _ signature: String
    ) throws {
        guard
            case .failure(let failure) = try Self.adapter.get().reading(
                of: #"{"code":26,"userId":"u","signature":\#(signature)}"#)
        else {
            Issue.record("it was rejected")
            return
        }
        #expect(failure.failedToken == nil)
        #expect(failure.deadline == nil)
    }

    @Test func `a failing token that already names the user is not replaced by the same`() throws {
        let adapter = try Self.adapter.get()
        func summary(_ sub: String) throws -> String {
            let token = "e30." + Base64.url.encode(Array(#"{"sub":\#(sub)}"#.utf8)) + ".c2ln"
            return try adapter.summary(of: #"{"code":21,"userId":"u-1001","signature":"\#(token)"}"#)
        }
        #expect(try summary(#""u-1001""#) == "not_fixable SUBJECT_MISMATCH app/u-1001")
        #expect(try summary(#""u-2002""#) == "mint_once SUBJECT_MISMATCH app/u-1001")
        #expect(try summary("1001") == "mint_once SUBJECT_MISMATCH app/u-1001")
        #expect(
            try adapter.summary(of: #"{"code":21,"userId":"u-1001","signature":"garbage"}"#)
                == "mint_once SUBJECT_MISMATCH app/u-1001")
    }

    @Test func `an optional authentication's failure is not counted as a refusal`() throws {
        let adapter = try Self.adapter.get()
        for code in Self.codes {
            let report = #"{"code":\#(code.report),"userId":"u-1001","signature":"a.b.c","optional":true}"#
            let words = code.summary.split(separator: " ", maxSplits: 1).map(String.init)
            let remedy = words[0] == "mint_once" ? "mint" : words[0]
            #expect(try adapter.summary(of: report) == "\(remedy) \(words[1])")
            guard case .failure(let failure) = try adapter.reading(of: report) else {
                Issue.record("it was rejected")
                continue
            }
            #expect(!failure.isEnforced)
        }
    }

    /// A value of the member "optional", and whether Braze refuses the request, by the setting `enforcement`.
    private static let flags: [(flag: String, required: Bool, optional: Bool)] = [
        ("true", false, false), ("1", false, false), ("false", true, true), ("0", true, true), ("null", true, false),
        (#""true""#, true, false), ("2", true, false), ("{}", true, false),
    ]

    @Test(arguments: flags)
    func `the report's flag decides whether a failure is a refusal, and without one the setting does`(
        _ flag: String, _ required: Bool, _ optional: Bool
    ) throws {
        let report = #"{"code":23,"userId":"u","signature":"a.b.c","optional":\#(flag)}"#
        for (setting, isEnforced) in [("required", required), ("optional", optional)] {
            let adapter = try makeAdapter(BrazeAdapter.self, #"{"enforcement":"\#(setting)"}"#)
            #expect(
                try adapter.summary(of: report) == "\(isEnforced ? "mint_once" : "mint") INVALID_PAYLOAD app/u",
                "\(setting)")
            guard case .failure(let failure) = try adapter.reading(of: report) else {
                Issue.record("it was rejected")
                continue
            }
            #expect(failure.isEnforced == isEnforced, "\(setting)")
        }
    }

    /// Swift 13 and later report in Optional mode, and these wrappers drop the flag.
    @Test(arguments: [
        #"{"error_code":23,"user_id":"u","original_signature":"a.b.c"}"#,
        #"{"sdkAuthenticationError":"{\"code\":23,\"userId\":\"u\",\"signature\":\"a.b.c\"}"}"#,
        #"{"code":23,"reason":"","userId":"u","signature":"a.b.c"}"#,
    ]) func `a wrapper without the flag is no refusal in an app with optional enforcement`(_ report: String) throws {
        let adapter = try makeAdapter(BrazeAdapter.self, #"{"enforcement":"optional"}"#)
        #expect(try adapter.summary(of: report) == "mint INVALID_PAYLOAD app/u")
        guard case .failure(let failure) = try adapter.reading(of: report) else {
            Issue.record("it was rejected")
            return
        }
        #expect(!failure.isEnforced)
    }

    @Test(arguments: [20, 27]) func `the signer of the failed token decides the remedy of codes 20 and 27`(
        _ code: Int
    ) throws {
        let report = #"{"code":\#(code),"userId":"u","signature":"a.b.c"}"#
        guard case .failure(let failure) = try Self.adapter.get().reading(of: report) else {
            Issue.record("it was rejected")
            return
        }
        #expect(failure.evidence == .key)
        for signer in [TokenSigner.passive, .prepared, .retired] { #expect(failure.remedy(signedBy: signer) == .mint) }
        for signer in [TokenSigner.foreign, .none] { #expect(failure.remedy(signedBy: signer) == .mintOnce) }
        guard case .notFixable(let why) = failure.remedy(signedBy: .active) else {
            Issue.record("a token of the active version is minted for")
            return
        }
        #expect(why.contains("upload"))
    }

    private static let contradictions = [
        #"{"code":22,"userId":"u-1","user_id":"u-2"}"#,
        #"{"code":22,"userId":null,"user_id":"u-2"}"#,
        #"{"code":22,"userId":"u-1","user_id":""}"#,
        #"{"code":22,"userId":"u-1","user_id":1}"#,
        #"{"code":22,"userId":"u-1","user\u005fid":"u-2"}"#,
        #"{"code":22,"userId":"\u00e9","user_id":"e\u0301"}"#,
        #"{"code":22,"userId":"u-1","error":{"code":22,"userId":"u-2"}}"#,
        #"{"code":22,"userId":"u-1","error":{"user_id":null}}"#,
        #"{"userId":"","sdkAuthenticationError":{"code":22,"userId":"u-2"}}"#,
        #"{"user_id":"u-1","sdkAuthenticationError":"{\"code\":22,\"userId\":\"u-2\"}"}"#,
        #"{"error":{"userId":"u-1"},"sdkAuthenticationError":{"code":22,"userId":"u-2"}}"#,
        #"{"sdkAuthenticationError":{"code":22,"userId":"u-1","error":{"userId":"u-2"}}}"#,
        #""{\"userId\":\"u-1\",\"error\":{\"code\":22,\"userId\":\"u-2\"}}""#,
    ]

    @Test(arguments: contradictions) func `a report that names two users on any level is refused`(_ report: String)
        throws
    {
        #expect(try Self.adapter.get().reading(of: report) == .rejected(.namesTwoUsers))
    }

    @Test func `one user who is named on several levels is accepted`() throws {
        for report in [
            #"{"userId":"u-1","sdkAuthenticationError":"{\"code\":22,\"userId\":\"u-1\"}"}"#,
            #"{"user_id":"u-1","error":{"code":22,"userId":"u-1"}}"#, #"{"userId":"u-1","error":{"code":22}}"#,
        ] { #expect(try Self.adapter.get().summary(of: report) == "mint EXPIRED app/u-1") }
    }

    /// An id of digits that Flutter on Android lost: only the edge knows it still.
    @Test func `the vouched user counts where the report cannot name one, and not where it names two`() throws {
        func reading(_ report: String) throws -> Reading {
            let root = try JSONDocument(parsing: Array(report.utf8)).root
            let vouched = VouchedUser(Subject(user: "00012345"))
            return try Self.adapter.get().reading(of: Report(root, observedAt: now, vouched: vouched))
        }
        for report in [
            #"{"sdkAuthenticationError":"{\"code\":22,\"userId\":5349}"}"#,
            #"{"code":22,"reason":"","userId":"","signature":""}"#, #"{"code":22}"#,
        ] {
            guard case .failure(let failure) = try reading(report) else {
                Issue.record("it was rejected")
                continue
            }
            #expect(failure.subject == Subject(user: "00012345") && failure.remedy == .mint)
        }
        #expect(try reading(#"{"code":22,"userId":"00012345","user_id":"u-2"}"#) == .rejected(.namesTwoUsers))
        #expect(try reading(#"{"code":22,"userId":"u-2"}"#) == .rejected(.identityMismatch))
        guard case .rejected = try reading("{}") else {
            Issue.record("a report of nothing was read")
            return
        }
    }

    @Test func `a user id of more than 1,024 bytes is refused`() throws {
        let adapter = try Self.adapter.get()
        let longest = String(repeating: "\u{E9}", count: 512)
        #expect(try adapter.summary(of: #"{"code":22,"userId":"\#(longest)"}"#).hasPrefix("mint EXPIRED "))
        #expect(try adapter.summary(of: #"{"code":22,"userId":"\#(longest)x"}"#) == "malformed_report")
        #expect(throws: Rejection.self) {
            try adapter.user(reissuing: try JSONDocument(parsing: Array("\"\(longest)x\"".utf8)).root)
        }
    }

    private static let large = LargeReport.all(naming: ["code", "userId", "signature", "reason"])

    @Test(.timeLimit(.minutes(5)), arguments: large) func `a large report to Braze's adapter is read at once`(
        _ report: LargeReport
    )
        throws
    {
        _ = try Self.adapter.get().summary(of: report.json)
    }
}
