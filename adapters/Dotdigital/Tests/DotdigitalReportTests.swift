import AdapterKit
import AdapterTestSupport
import DotdigitalAdapter
import Testing

/// `expiresOn` as JSON, and how many seconds after the report the deadline is.
struct DeadlineSample: CustomTestStringConvertible {
    let expiresOn: String
    let seconds: Int64

    init(_ expiresOn: String, _ seconds: Int64) {
        self.expiresOn = expiresOn
        self.seconds = seconds
    }

    var testDescription: String { expiresOn }
}

@Suite struct DotdigitalReportTests {
    private static let adapter = Result { try makeAdapter(DotdigitalAdapter.self, #"{"issuer":"i","audience":"a"}"#) }

    private static let reports: [ReportSample] = [
        .init(#"{"nonce":"n","userId":"u"}"#, "mint CHALLENGE app/u/n"),
        .init(#"{"nonce":"n","sub":"u"}"#, "mint CHALLENGE app/u/n"),
        .init(#"{"nonce":"n","userId":"u","sub":"u"}"#, "mint CHALLENGE app/u/n"),
        .init(#"{"nonce":"n","userId":"u","sub":"v"}"#, "malformed_report"),
        .init(#"{"nonce":"n","userId":"u","sub":null}"#, "malformed_report"),
        .init(#"{"nonce":"n","userId":"","sub":"v","status":403}"#, "malformed_report"),
        .init(#"{"nonce":"n","userId":"\#(String(repeating: "u", count: 1025))"}"#, "malformed_report"),
        .init(#"{"nonce":"\#(String(repeating: "n", count: 1025))","userId":"u"}"#, "malformed_report"),
        .init(#"{"nonce":"n/1","userId":"u","reason":"challenge"}"#, "mint CHALLENGE app/u/n%2F1"),
        .init(
            #"{"nonce":"n","userId":"u","provider":"jsonWebToken","authenticationId":"a","expiresOn":null}"#,
            "mint CHALLENGE app/u/n"),
        .init(#"{"nonce":"n","userId":"u","authenticationID":"a"}"#, "mint CHALLENGE app/u/n"),
        .init(#"{"nonce":"n","userId":"u","provider":"facebook"}"#, "not_for_us CHALLENGE"),
        .init(#"{"nonce":"n","userId":"u","reason":"INVALID_JWT_403"}"#, "mint_once INVALID_JWT_403 app/u/n"),
        .init(#"{"nonce":"n","userId":"u","status":403}"#, "mint_once INVALID_JWT_403 app/u/n"),
        .init(#"{"nonce":"n","userId":"u","statusCode":"403"}"#, "mint_once INVALID_JWT_403 app/u/n"),
        .init(#"{"userId":"u","reason":"INVALID_JWT_403"}"#, "not_fixable INVALID_JWT_403"),
        .init(#"{"userId":"u","status":403,"message":"Invalid JWT"}"#, "not_fixable INVALID_JWT_403"),
        .init(
            #"{"userId":"u","domain":"com.comapi.foundation.request.template","code":5554}"#,
            "not_for_us UNEXPECTED_STATUS"),
        .init(#"{"nonce":"n","userId":"u","code":5554}"#, "mint CHALLENGE app/u/n"),
        .init(#"{"nonce":"n","userId":"u","code":5554,"reason":"Bad answer"}"#, "mint CHALLENGE app/u/n"),
        .init(#"{"nonce":"n","userId":"u","code":5554,"status":403}"#, "mint_once INVALID_JWT_403 app/u/n"),
        .init(
            #"{"nonce":"n","userId":"u","code":5554,"reason":"INVALID_JWT_403"}"#, "mint_once INVALID_JWT_403 app/u/n"),
        .init(#"{"userId":"u","code":"5554","statusCode":403}"#, "not_fixable INVALID_JWT_403"),
        .init(#"{"userId":"u","code":5554,"statusCode":500}"#, "not_for_us UNEXPECTED_STATUS"),
        .init(#"{"userId":"u","reason":"UNEXPECTED_STATUS"}"#, "not_for_us UNEXPECTED_STATUS"),
        .init(#"{"nonce":"n","userId":"u","reason":"UNEXPECTED_STATUS"}"#, "mint CHALLENGE app/u/n"),
        .init(#"{"nonce":"n","userId":"u","status":403,"reason":"Invalid JWT"}"#, "mint_once INVALID_JWT_403 app/u/n"),
        .init(#"{"userId":"u","statusCode":401,"reason":"no token"}"#, "not_for_us NO_TOKEN"),
        .init(#"{"userId":"u","reason":"SESSION_EXPIRED"}"#, "not_for_us SESSION_EXPIRED"),
        .init(#"{"nonce":"n","userId":"u","reason":"SESSION_EXPIRED"}"#, "mint SESSION_EXPIRED app/u/n"),
        .init(#"{"nonce":"n","userId":"u","status":401}"#, "mint SESSION_EXPIRED app/u/n"),
        .init(#"{"userId":"u","statusCode":401}"#, "not_for_us NO_TOKEN"),
        .init(#"{"userId":"u","reason":"NO_TOKEN"}"#, "not_for_us NO_TOKEN"),
        .init(#"{"nonce":"n","userId":"u","reason":"NO_TOKEN"}"#, "not_for_us NO_TOKEN"),
        .init(#"{"userId":"u","domain":"com.comapi.foundation.authentication","code":5561}"#, "not_for_us NO_TOKEN"),
        .init(#"{"nonce":"n","userId":null}"#, "not_for_us CHALLENGE"),
        .init(#"{"nonce":"n","userId":""}"#, "not_for_us CHALLENGE"),
        .init(#"{"nonce":"n"}"#, "missing_user"),
        .init(#"{"nonce":"n","userId":1001}"#, "malformed_report"),
        .init(#"{"userId":"u"}"#, "missing_challenge"),
        .init(#"{"userId":"u","nonce":null}"#, "missing_challenge"),
        .init(#"{"userId":"u","nonce":""}"#, "missing_challenge"),
        .init(#"{"userId":"u","authenticationId":"a","reason":"CHALLENGE"}"#, "missing_challenge"),
        .init(#"{"userId":"u","nonce":7}"#, "malformed_report"),
        .init(#"{"userId":"u","nonce":["n"]}"#, "malformed_report"),
        .init(#"{"userId":"u","nonce":"n","reason":"sdk_auth_error"}"#, "malformed_report"),
        .init(#"{"userId":"u","nonce":"n","reason":7}"#, "malformed_report"),
        .init(#"{"code":22,"userId":"u","signature":"s"}"#, "malformed_report"),
        .init(#"{"externalId":"u"}"#, "malformed_report"),
        .init(#"[]"#, "malformed_report"), .init(#"null"#, "malformed_report"), .init(#""n""#, "malformed_report"),
        .init(#"{}"#, "missing_challenge"),
    ]

    @Test(arguments: reports) func `challenges and their outcomes are read from reports`(_ sample: ReportSample) throws
    {
        #expect(try Self.adapter.get().summary(of: sample.report) == sample.summary)
    }

    /// The earlier of the challenge's end and the 300 s a device waits, less 5 s for the way.
    private static let deadlines: [DeadlineSample] = [
        .init(#""2027-01-15T08:04:00Z""#, 235), .init(#""2027-01-15T08:04:00.500Z""#, 235),
        .init(#""2027-01-15T10:04:00+02:00""#, 235),
        .init(#""2027-01-15T08:05:00Z""#, 295), .init(#""2027-01-15T08:05:01Z""#, 295),
        .init(#""2100-01-01T08:15:05.525Z""#, 295),
        .init(#""9999-12-31T23:59:59.999999999-23:59""#, 295), .init(#""2027-01-15T08:00:00Z""#, -5),
        .init(#""2027-01-15T07:00:00Z""#, -3605),
        .init(#""0001-01-01T00:00:00Z""#, -63_935_596_800), .init(#""0001-01-01T00:00:00+23:59""#, -63_935_596_800),
        .init(#""""#, 295), .init("null", 295), .init(#""soon""#, 295), .init("1800000240", 295), .init("{}", 295),
        .init(#""Optional(2027-01-15 08:04:00 +0000)""#, 295),
    ]

    @Test(arguments: deadlines) func `the deadline is the challenge's end or the time when the device gives up`(
        _ sample: DeadlineSample
    )
        throws
    {
        let report = #"{"nonce":"n","userId":"u","expiresOn":\#(sample.expiresOn)}"#
        guard case .failure(let failure) = try Self.adapter.get().reading(of: report) else {
            Issue.record("it was rejected")
            return
        }
        #expect(failure.remedy == .mint)
        #expect(failure.deadline.map { $0.seconds - now.seconds } == sample.seconds)
    }

    @Test func `a report with nothing to answer has no deadline`() throws {
        for report in [#"{"userId":"u","reason":"SESSION_EXPIRED"}"#, #"{"nonce":"n","userId":null}"#] {
            guard case .failure(let failure) = try Self.adapter.get().reading(of: report) else {
                Issue.record("it was rejected")
                continue
            }
            #expect(failure.deadline == nil)
        }
    }

    private static let large = LargeReport.all(naming: ["nonce", "expiresOn", "reason", "status", "userId"])

    @Test(.timeLimit(.minutes(5)), arguments: large) func `a large report to Dotdigital's adapter is read at once`(
        _ report: LargeReport
    )
        throws
    {
        _ = try Self.adapter.get().summary(of: report.json)
    }
}
