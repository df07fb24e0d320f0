import AdapterKit
import AdapterTestSupport
import InfobipAdapter
import Testing

/// A code of the README's table as JSON, and what it calls for.
struct InfobipCodeSample: CustomTestStringConvertible {
    let code: String
    let outcome: String

    init(_ code: String, _ outcome: String) {
        self.code = code
        self.outcome = outcome
    }

    var testDescription: String { code }
}

@Suite struct InfobipReportTests {
    private static let adapter = Result { try makeAdapter(InfobipAdapter.self, #"{"application_code":"app-code-A"}"#) }
    private static let structure = "mint_once JWT_TOKEN_STRUCTURE_INVALID"

    private static let codes: [InfobipCodeSample] = [
        .init(#""JWT_TOKEN_EXPIRED""#, "mint JWT_TOKEN_EXPIRED"), .init(#""20014""#, "mint JWT_TOKEN_EXPIRED"),
        .init("20014", "mint JWT_TOKEN_EXPIRED"), .init("11", "mint JWT_TOKEN_EXPIRED"),
        .init(#""11""#, "mint JWT_TOKEN_EXPIRED"),
        .init(#""JWT_TOKEN_STRUCTURE_INVALID""#, structure), .init(#""20013""#, structure), .init("20013", structure),
        .init("10", structure), .init("12", structure), .init("13", structure), .init("14", structure),
        .init("15", structure),
        .init("16", structure),
        .init(#""ACCESS_TOKEN_MISSING""#, "mint ACCESS_TOKEN_MISSING"),
        .init(#""JWT_GENERIC_ERROR""#, "mint_once JWT_GENERIC_ERROR"),
        .init(#""UNAUTHORIZED""#, "mint_once UNAUTHORIZED"), .init(#""FORBIDDEN""#, "mint_once FORBIDDEN"),
        .init("401", "mint_once UNAUTHORIZED"), .init("403", "mint_once FORBIDDEN"),
        .init("9", "not_for_us OTHER"), .init("17", "not_for_us OTHER"), .init("0", "not_for_us OTHER"),
        .init("500", "not_for_us OTHER"),
        .init("-1009", "not_for_us OTHER"), .init(#""-10""#, "not_for_us OTHER"),
        .init(#""UNKNOWN_ERROR""#, "not_for_us OTHER"),
        .init(#""TOO_MANY_REQUESTS""#, "not_for_us OTHER"), .init("{}", "not_for_us OTHER"),
        .init("true", "not_for_us OTHER"),
    ]

    @Test(arguments: codes) func `every code of Infobip has its remedy under each of its names`(
        _ sample: InfobipCodeSample
    ) throws {
        let adapter = try Self.adapter.get()
        for name in ["mm_code", "code", "messageId"] {
            let report = #"{"\#(name)":\#(sample.code),"externalUserId":"u-1001"}"#
            #expect(try adapter.summary(of: report) == "\(sample.outcome) app/u-1001", "\(name)")
        }
        for nested in [
            #"{"userInfo":{"messageId":CODE},"externalUserId":null}"#,
            #"{"requestError":{"serviceException":{"messageId":CODE}},"externalUserId":null}"#,
        ] {
            let reason = sample.outcome.split(separator: " ").last ?? ""
            let report = nested.split(separator: "CODE").joined(separator: sample.code)
            #expect(try adapter.summary(of: report) == "not_for_us \(reason)", "\(report)")
        }
    }

    private static let reports: [ReportSample] = [
        .init(#"{"domain":"com.mobile-messaging","code":11,"externalUserId":"u"}"#, "mint JWT_TOKEN_EXPIRED app/u"),
        .init(#"{"domain":"com.mobile-messaging","code":16,"externalUserId":"u"}"#, "\(structure) app/u"),
        .init(#"{"domain":"com.mobile-messaging","code":9,"externalUserId":"u"}"#, "not_for_us OTHER app/u"),
        .init(#"{"domain":"NSURLErrorDomain","code":11,"externalUserId":"u"}"#, "not_for_us OTHER app/u"),
        .init(#"{"domain":"com.mobile-messaging.backend","code":11,"externalUserId":"u"}"#, "not_for_us OTHER app/u"),
        .init(
            #"{"domain":"com.mobile-messaging.backend","code":0,"userInfo":{"messageId":"FORBIDDEN"},"externalUserId":"u"}"#,
            "mint_once FORBIDDEN app/u"),
        .init(
            #"{"domain":"com.mobile-messaging.backend","code":0,"userInfo":{"messageId":"BAD_REQUEST"},"externalUserId":"u"}"#,
            "not_for_us OTHER app/u"),
        .init(#"{"mm_code":"JWT_TOKEN_EXPIRED","code":12,"externalUserId":"u"}"#, "mint JWT_TOKEN_EXPIRED app/u"),
        .init(#"{"mm_code":null,"code":12,"externalUserId":"u"}"#, "\(structure) app/u"),
        .init(#"{"code":"jwt_token_expired","externalUserId":"u"}"#, "mint JWT_TOKEN_EXPIRED app/u"),
        .init(#"{"code":"Jwt_Token_Expired","externalUserId":"u"}"#, "mint JWT_TOKEN_EXPIRED app/u"),
        .init(#"{"code":"JWT\u007fTOKEN\u007fEXPIRED","externalUserId":"u"}"#, "not_for_us OTHER app/u"),
        .init(#"{"code":"JWT_TOKEN_EXPIRE","externalUserId":"u"}"#, "not_for_us OTHER app/u"),
        .init(#"{"status":401,"externalUserId":"u"}"#, "mint_once UNAUTHORIZED app/u"),
        .init(#"{"statusCode":"403","externalUserId":"u"}"#, "mint_once FORBIDDEN app/u"),
        .init(#"{"code":"UNAUTHORIZED","status":403,"external_user_id":"u"}"#, "mint_once UNAUTHORIZED app/u"),
        .init(#"{"code":"JWT_TOKEN_EXPIRED","externalUserId":""}"#, "not_for_us JWT_TOKEN_EXPIRED"),
        .init(#"{"code":"JWT_TOKEN_EXPIRED","externalUserId":null}"#, "not_for_us JWT_TOKEN_EXPIRED"),
        .init(#"{"code":"JWT_TOKEN_EXPIRED"}"#, "missing_user"),
        .init(#"{"code":"JWT_TOKEN_EXPIRED","userId":"u"}"#, "missing_user"),
        .init(#"{"code":"JWT_TOKEN_EXPIRED","externalUserId":7}"#, "malformed_report"),
        .init(#"{"code":"11","externalUserId":"u","external_user_id":"u"}"#, "mint JWT_TOKEN_EXPIRED app/u"),
        .init(#"{"code":"11","externalUserId":"u","external_user_id":"v"}"#, "malformed_report"),
        .init(#"{"code":"11","externalUserId":"u","external_user_id":null}"#, "malformed_report"),
        .init(#"{"code":"JWT_TOKEN_EXPIRED","message":"m","details":null}"#, "missing_user"),
        .init(
            #"{"code":"JWT_TOKEN_EXPIRED","externalUserId":"u","applicationCode":"app-code-A"}"#,
            "mint JWT_TOKEN_EXPIRED app/u"),
        .init(#"{"code":"JWT_TOKEN_EXPIRED","externalUserId":"u","applicationCode":"B"}"#, "malformed_report"),
        .init(
            #"{"code":"-10","message":"","type":"UNKNOWN_ERROR","tr":{},"externalUserId":"u"}"#,
            "not_for_us OTHER app/u"),
        .init(#"{"description":"Invalid login details","externalUserId":"u"}"#, "not_for_us OTHER app/u"),
        .init(#"{"code":22,"userId":"u-1001","signature":"s"}"#, "malformed_report"),
        .init(#"{"nonce":"n","userId":"u"}"#, "malformed_report"),
        .init(#"{"externalId":"u"}"#, "malformed_report"),
        .init(#"{}"#, "malformed_report"), .init(#"[]"#, "malformed_report"), .init(#""x""#, "malformed_report"),
        .init(#"null"#, "malformed_report"),
        .init(
            #"{"userInfo":[],"requestError":7,"code":"JWT_TOKEN_EXPIRED","externalUserId":"u"}"#,
            "mint JWT_TOKEN_EXPIRED app/u"),
    ]

    @Test(arguments: reports) func `every shape of an Infobip error is read`(_ sample: ReportSample) throws {
        #expect(try Self.adapter.get().summary(of: sample.report) == sample.summary)
    }

    @Test func `a user id of more than 256 characters, the vendor's own bound, is refused`() throws {
        let adapter = try Self.adapter.get()
        let longest = String(repeating: "\u{1F511}", count: 256)
        #expect(try adapter.summary(of: #"{"code":"11","externalUserId":"\#(longest)"}"#).hasPrefix("mint "))
        #expect(try adapter.summary(of: #"{"code":"11","externalUserId":"\#(longest)x"}"#) == "malformed_report")
        for (user, isGood) in [(longest, true), (longest + "x", false)] {
            let json = try JSONDocument(parsing: Array("\"\(user)\"".utf8)).root
            let subject = try? adapter.user(reissuing: json)
            #expect((subject != nil) == isGood)
        }
    }

    private static let large = LargeReport.all(naming: [
        "code", "mm_code", "messageId", "domain", "externalUserId", "applicationCode",
    ])

    @Test(.timeLimit(.minutes(5)), arguments: large) func `a large report to Infobip's adapter is read at once`(
        _ report: LargeReport
    )
        throws
    {
        _ = try Self.adapter.get().summary(of: report.json)
    }
}
