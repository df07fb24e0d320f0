import AdapterKit
import AdapterTestSupport
import BloomreachAdapter
import Testing

@Suite struct BloomreachReportTests {
    private static let stream = Result { try makeAdapter(BloomreachAdapter.self, #"{"mode":"stream"}"#) }
    private static let customer = Result { try makeAdapter(BloomreachAdapter.self, #"{"mode":"customer_token"}"#) }

    private static let streamCodes: [ReportSample] = [
        .init("TOKEN_NOT_PROVIDED", "mint TOKEN_NOT_PROVIDED"), .init("notProvided", "mint TOKEN_NOT_PROVIDED"),
        .init("TOKEN_ABOUT_TO_EXPIRE", "mint TOKEN_ABOUT_TO_EXPIRE"),
        .init("expiredSoon", "mint TOKEN_ABOUT_TO_EXPIRE"),
        .init("TOKEN_EXPIRED", "mint TOKEN_EXPIRED"), .init("expired", "mint TOKEN_EXPIRED"),
        .init(".expired", "mint TOKEN_EXPIRED"),
        .init("EXPIRED_SOON", "mint TOKEN_ABOUT_TO_EXPIRE"), .init("TOKEN_REJECTED", "mint_once TOKEN_REJECTED"),
        .init("invalid", "mint_once TOKEN_REJECTED"), .init("TOKEN_INSUFFICIENT", "not_fixable TOKEN_INSUFFICIENT"),
        .init("insufficient", "not_fixable TOKEN_INSUFFICIENT"), .init("TOKEN_ODD", "mint_once UNKNOWN"),
    ]

    @Test(arguments: streamCodes) func `knows every stream code's remedy, in Android's and in iOS's spelling`(
        _ code: ReportSample
    ) throws {
        for name in ["errorCode", "reason"] {
            let report = #"{"\#(name)":"\#(code.report)","customerIds":{"registered":"r"}}"#
            #expect(try Self.stream.get().summary(of: report) == "\(code.summary) app/registered=r")
        }
    }

    private static let customerReports: [ReportSample] = [
        .init(#"{"reason":"empty","customerIds":{"registered":"r"}}"#, "mint EMPTY app/registered=r"),
        .init(#"{"reason":"EXPIRING","customerIds":{"registered":"r"}}"#, "mint EXPIRING app/registered=r"),
        .init(#"{"status":401,"customerIds":{"registered":"r"}}"#, "mint_once HTTP_401 app/registered=r"),
        .init(#"{"status":"403","customerIds":{"registered":"r"}}"#, "mint_once HTTP_403 app/registered=r"),
        .init(#"{"code":401,"customer_ids":{"registered":"r"}}"#, "mint_once HTTP_401 app/registered=r"),
        .init(#"{"status":500,"customerIds":{"registered":"r"}}"#, "mint_once UNKNOWN app/registered=r"),
        .init(#"{"customerIds":{"registered":"r"}}"#, "mint_once UNKNOWN app/registered=r"),
        .init(#"{"reason":"TOKEN_EXPIRED","customerIds":{"registered":"r"}}"#, "malformed_report"),
        .init(#"{"reason":"empty"}"#, "missing_user"),
        .init(#"{"reason":"empty","customerIds":null}"#, "not_for_us EMPTY"),
        .init(#"{"reason":"empty","customerIds":{"cookie":"c"}}"#, "not_for_us EMPTY"),
    ]

    @Test(arguments: customerReports) func `reads what an app says of its customer token`(_ sample: ReportSample) throws
    {
        #expect(try Self.customer.get().summary(of: sample.report) == sample.summary)
    }

    private static let streamReports: [ReportSample] = [
        .init(
            #"{"errorCode":"TOKEN_EXPIRED","customerIds":{"registered":"r","cookie":"c"}}"#,
            "mint TOKEN_EXPIRED app/registered=r"),
        .init(
            #"{"errorCode":"TOKEN_EXPIRED","customerIds":{"registered":"r","phone":null,"x":""}}"#,
            "mint TOKEN_EXPIRED app/registered=r"),
        .init(
            #"{"errorCode":"TOKEN_EXPIRED","customerIds":{"b":"2","a":"1/2"}}"#, "mint TOKEN_EXPIRED app/a=1%2F2/b=2"),
        .init(#"{"errorCode":"TOKEN_EXPIRED","customerIds":{}}"#, "not_for_us TOKEN_EXPIRED"),
        .init(#"{"errorCode":"TOKEN_EXPIRED","customerIds":null}"#, "not_for_us TOKEN_EXPIRED"),
        .init(
            #"{"errorCode":"TOKEN_EXPIRED","customerIds":{"cookie":"c","registered":null}}"#, "not_for_us TOKEN_EXPIRED"
        ),
        .init(#"{"errorCode":"TOKEN_EXPIRED"}"#, "missing_user"),
        .init(#"{"errorCode":"TOKEN_EXPIRED","customerIds":{"registered":7}}"#, "malformed_report"),
        .init(#"{"errorCode":"TOKEN_EXPIRED","customerIds":["r"]}"#, "malformed_report"),
        .init(#"{"errorCode":"TOKEN_EXPIRED","customerIds":"r"}"#, "malformed_report"),
        .init(#"{"reason":"empty","customerIds":{"registered":"r"}}"#, "malformed_report"),
        .init(#"{"code":22,"userId":"u"}"#, "malformed_report"),
        .init(#"{"externalId":"u"}"#, "malformed_report"),
        .init(#"{}"#, "malformed_report"), .init(#"[]"#, "malformed_report"), .init(#"null"#, "malformed_report"),
        .init(
            #""{\"errorCode\":\"TOKEN_EXPIRED\",\"customerIds\":{\"registered\":\"r\"}}""#,
            "mint TOKEN_EXPIRED app/registered=r"),
        .init(#""TOKEN_EXPIRED""#, "malformed_report"),
    ]

    @Test(arguments: streamReports) func `reads every shape of a stream report`(_ sample: ReportSample) throws {
        #expect(try Self.stream.get().summary(of: sample.report) == sample.summary)
    }

    @Test func `keeps to the ids that are allowed`() throws {
        let adapter = try makeAdapter(BloomreachAdapter.self, #"{"mode":"stream","ids":["registered"]}"#)
        let report = #"{"errorCode":"TOKEN_EXPIRED","customerIds":{"registered":"r","email_id":"e","points":7}}"#
        #expect(try adapter.summary(of: report) == "mint TOKEN_EXPIRED app/registered=r")
        #expect(
            try adapter.summary(of: #"{"errorCode":"TOKEN_EXPIRED","customerIds":{"email_id":"e"}}"#)
                == "not_for_us TOKEN_EXPIRED")
    }

    private static let reissues: [ReportSample] = [
        .init(#"{"registered":"r","cookie":"c"}"#, "app/registered=r"), .init(#"{"cookie":"c"}"#, "missing_user"),
        .init(#"{}"#, "missing_user"), .init(#""r""#, "malformed_report"),
        .init(#"{"registered":7}"#, "malformed_report"),
    ]

    @Test(arguments: reissues) func `understands the ids of a batch job`(_ sample: ReportSample) throws {
        let user = try JSONDocument(parsing: Array(sample.report.utf8)).root
        let adapter = try Self.stream.get()
        do throws(Rejection) {
            let subject = try adapter.subject(reissuing: user)
            #expect(String(decoding: subject.key(app: "app"), as: UTF8.self) == sample.summary)
        } catch { #expect(error.code.rawValue == sample.summary) }
    }

    private static let large = LargeReport.all(naming: ["errorCode", "customerIds", "status"])

    @Test(.timeLimit(.minutes(1)), arguments: large) func `answers a large report at once`(_ report: LargeReport) throws
    {
        _ = try Self.stream.get().summary(of: report.json)
    }
}
