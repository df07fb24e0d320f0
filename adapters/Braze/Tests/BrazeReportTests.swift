import AdapterKit
import AdapterTestSupport
import BrazeAdapter
import Testing

@Suite struct BrazeReportTests {
    private static let adapter = Result { try makeAdapter(BrazeAdapter.self, "{}") }

    /// VENDORS' table of codes, whole.
    private static let codes: [ReportSample] = [
        ("10", "mint EXPIRATION_REQUIRED"), ("20", "mint_once DECODING_ERROR"), ("21", "mint_once SUBJECT_MISMATCH"),
        ("22", "mint EXPIRED"), ("23", "mint_once INVALID_PAYLOAD"), ("24", "mint_once INCORRECT_ALGORITHM"),
        ("25", "not_fixable PUBLIC_KEY_ERROR"), ("26", "mint MISSING_TOKEN"),
        ("27", "mint_once NO_MATCHING_PUBLIC_KEYS"),
        ("28", "not_fixable PAYLOAD_USER_ID_MISMATCH"), ("29", "not_fixable UNKNOWN"), ("0", "not_fixable UNKNOWN"),
        ("-1", "not_fixable UNKNOWN"), ("9223372036854775807", "not_fixable UNKNOWN"),
    ].map { ReportSample($0.0, "\($0.1) app/u-1001") }

    @Test(arguments: codes) func `knows every code's remedy, as a number and as text`(_ code: ReportSample) throws {
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
        .init(#"{"code":22,"userId":"u-1","user_id":"u-2"}"#, "mint EXPIRED app/u-1"),
        .init(#"{"code":22,"userId":null,"user_id":"u-2"}"#, "mint EXPIRED app/u-2"),
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

    @Test(arguments: aliases) func `takes the first name that holds a value`(_ sample: ReportSample) throws {
        #expect(try Self.adapter.get().summary(of: sample.report) == sample.summary)
    }

    private static let wrapped: [ReportSample] = [
        .init(#"{"sdkAuthenticationError":{"code":22,"userId":"u-1"}}"#, "mint EXPIRED app/u-1"),
        .init(#"{"sdkAuthenticationError":"{\"code\":22,\"userId\":\"u-1\"}"}"#, "mint EXPIRED app/u-1"),
        .init(#"{"sdkAuthenticationError":"{\"code\":\"22\",\"userId\":null}"}"#, "not_for_us EXPIRED"),
        .init(#""{\"code\":22,\"userId\":\"u-1\"}""#, "mint EXPIRED app/u-1"),
        .init(#"{"sdkAuthenticationError":"{code=22, reason=a, b = c, userId=u-1}"}"#, "mint EXPIRED app/u-1"),
        .init(#"{"sdkAuthenticationError":"{reason=x, code=26, userId=u, 1}"}"#, "mint MISSING_TOKEN app/u%2C%201"),
        .init(#"{"sdkAuthenticationError":"{userId=u-1, code=22}"}"#, "mint EXPIRED app/u-1"),
        .init(#"{"sdkAuthenticationError":"{code=22, reason=, userId=}"}"#, "not_for_us EXPIRED"),
        .init(#"{"sdkAuthenticationError":"{code=22, code=26, userId=u-1, userId=u-2}"}"#, "malformed_report"),
        .init(#"{"sdkAuthenticationError":"{code=22}"}"#, "missing_user"),
        .init(#"{"sdkAuthenticationError":"{decode=22, xuserId=u}"}"#, "malformed_report"),
        .init(#"{"sdkAuthenticationError":"{}"}"#, "malformed_report"),
        .init(#"{"sdkAuthenticationError":"{=}"}"#, "malformed_report"),
        .init(#"{"sdkAuthenticationError":"}{"}"#, "malformed_report"),
        .init(#"{"sdkAuthenticationError":"{"}"#, "malformed_report"),
        .init(#"{"sdkAuthenticationError":null}"#, "malformed_report"),
        .init(#"{"sdkAuthenticationError":7}"#, "malformed_report"),
        .init(#"{"sdkAuthenticationError":"\"{\\\"code\\\":22}\""}"#, "malformed_report"),
    ]

    @Test(arguments: wrapped) func `unwraps Flutter's texts`(_ sample: ReportSample) throws {
        #expect(try Self.adapter.get().summary(of: sample.report) == sample.summary)
    }

    @Test func `keeps the failing token's hash and never the token`() throws {
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

    @Test(arguments: [#""""#, #""null""#, "null", "7", "{}"]) func `takes an empty signature for none`(
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

    @Test func `does not repeat a token that already names the user`() throws {
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

    @Test func `minds no optional flag`() throws {
        for flag in ["true", "false", "null", "\"yes\""] {
            #expect(
                try Self.adapter.get().summary(of: #"{"code":22,"userId":"u","optional":\#(flag)}"#)
                    == "mint EXPIRED app/u")
        }
    }

    private static let large = LargeReport.all(naming: ["code", "userId", "signature", "reason"])

    @Test(.timeLimit(.minutes(1)), arguments: large) func `answers a large report at once`(_ report: LargeReport) throws
    {
        _ = try Self.adapter.get().summary(of: report.json)
    }
}
