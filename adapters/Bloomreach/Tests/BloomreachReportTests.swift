import AdapterKit
import AdapterTestSupport
import BloomreachAdapter
import Testing

@Suite struct BloomreachReportTests {
    private static let stream = Result {
        let names = ["registered", "a", "b", String(repeating: "r", count: 1025)] + (0..<33).map { "id\($0)" }
        let list = names.map { "\"\($0)\"" }.joined(separator: ",")
        return try makeAdapter(BloomreachAdapter.self, #"{"mode":"stream","ids":[\#(list)]}"#)
    }
    private static let customer = Result { try makeAdapter(BloomreachAdapter.self, #"{"mode":"customer_token"}"#) }

    private static let streamCodes: [ReportSample] = [
        .init("TOKEN_NOT_PROVIDED", "mint TOKEN_NOT_PROVIDED"), .init("notProvided", "mint TOKEN_NOT_PROVIDED"),
        .init("TOKEN_ABOUT_TO_EXPIRE", "mint TOKEN_ABOUT_TO_EXPIRE"),
        .init("expiredSoon", "mint TOKEN_ABOUT_TO_EXPIRE"),
        .init("TOKEN_EXPIRED", "mint TOKEN_EXPIRED"), .init("expired", "mint TOKEN_EXPIRED"),
        .init(".expired", "mint TOKEN_EXPIRED"), .init("SdkAuthErrorCode.tokenExpired", "mint TOKEN_EXPIRED"),
        .init("JwtErrorContext.Reason.expiredSoon", "mint TOKEN_ABOUT_TO_EXPIRE"),
        .init("tokenExpired.SdkAuthErrorCode", "mint_once UNKNOWN"), .init("tokenExpired.", "mint_once UNKNOWN"),
        .init("EXPIRED_SOON", "mint TOKEN_ABOUT_TO_EXPIRE"), .init("TOKEN_REJECTED", "mint_once TOKEN_REJECTED"),
        .init("invalid", "mint_once INVALID"), .init("TOKEN_INSUFFICIENT", "not_fixable TOKEN_INSUFFICIENT"),
        .init("insufficient", "not_fixable TOKEN_INSUFFICIENT"), .init("TOKEN_ODD", "mint_once UNKNOWN"),
    ]

    @Test(arguments: streamCodes) func `every stream code has its remedy, in Android's and in iOS's spelling`(
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

    @Test(arguments: customerReports) func `an app's reports about its customer token are read`(_ sample: ReportSample)
        throws
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
        .init(#"{"status":401,"customerIds":{"registered":"r"}}"#, "mint_once TOKEN_REJECTED app/registered=r"),
        .init(#"{"status":403,"customerIds":{"registered":"r"}}"#, "malformed_report"),
        .init(
            #"{"errorCode":"TOKEN_EXPIRED","customerIds":{"registered":"r"},"customer_ids":{"registered":"r"}}"#,
            "mint TOKEN_EXPIRED app/registered=r"),
        .init(
            #"{"errorCode":"TOKEN_EXPIRED","customerIds":{"registered":"r"},"customer_ids":{"registered":"s"}}"#,
            "malformed_report"),
        .init(
            #"{"errorCode":"TOKEN_EXPIRED","customerIds":null,"customer_ids":{"registered":"s"}}"#, "malformed_report"),
        .init(
            #"{"errorCode":"TOKEN_EXPIRED","customerIds":{"registered":"r"},"customer_ids":{"cookie":"c"}}"#,
            "malformed_report"),
        .init(
            #"{"errorCode":"TOKEN_EXPIRED","customerIds":{"registered":"\#(String(repeating: "r", count: 1025))"}}"#,
            "malformed_report"),
        .init(
            #"{"errorCode":"TOKEN_EXPIRED","customerIds":{"\#(String(repeating: "r", count: 1025))":"r"}}"#,
            "malformed_report"),
        .init(#"{"errorCode":"TOKEN_EXPIRED","customerIds":{\#(manyIDs(33))}}"#, "malformed_report"),
    ]

    @Test(arguments: streamReports) func `every shape of a stream report is read`(_ sample: ReportSample) throws {
        #expect(try Self.stream.get().summary(of: sample.report) == sample.summary)
    }

    @Test func `ids that are not allowed are ignored`() throws {
        let adapter = try makeAdapter(BloomreachAdapter.self, #"{"mode":"stream","ids":["registered"]}"#)
        let report = #"{"errorCode":"TOKEN_EXPIRED","customerIds":{"registered":"r","email_id":"e","points":7}}"#
        #expect(try adapter.summary(of: report) == "mint TOKEN_EXPIRED app/registered=r")
        #expect(
            try adapter.summary(of: #"{"errorCode":"TOKEN_EXPIRED","customerIds":{"email_id":"e"}}"#)
                == "not_for_us TOKEN_EXPIRED")
    }

    /// A device may report ids that belong to somebody else; only the project's own hard id is taken unasked.
    @Test func `the registered id alone counts if no ids are configured`() throws {
        let adapter = try makeAdapter(BloomreachAdapter.self, #"{"mode":"stream"}"#)
        let report = #"{"errorCode":"TOKEN_EXPIRED","customerIds":{"registered":"r","vip":"v","cookie":"c"}}"#
        #expect(try adapter.summary(of: report) == "mint TOKEN_EXPIRED app/registered=r")
        #expect(
            try adapter.summary(of: #"{"errorCode":"TOKEN_EXPIRED","customerIds":{"vip":"v"}}"#)
                == "not_for_us TOKEN_EXPIRED")
    }

    private static func manyIDs(_ count: Int) -> String {
        (0..<count).map { #""id\#($0)":"v""# }.joined(separator: ",")
    }

    @Test func `the cookie counts where it is allowed by name, but a customer token needs another id`() throws {
        let report = #"{"errorCode":"TOKEN_EXPIRED","customerIds":{"registered":"r","cookie":"c"}}"#
        let alone = #"{"errorCode":"TOKEN_EXPIRED","customerIds":{"cookie":"c"}}"#
        let stream = try makeAdapter(BloomreachAdapter.self, #"{"mode":"stream","ids":["registered","cookie"]}"#)
        #expect(try stream.summary(of: report) == "mint TOKEN_EXPIRED app/cookie=c/registered=r")
        #expect(try stream.summary(of: alone) == "mint TOKEN_EXPIRED app/cookie=c")
        let customer = try makeAdapter(
            BloomreachAdapter.self, #"{"mode":"customer_token","ids":["registered","cookie"]}"#)
        let empty = #"{"reason":"empty","customerIds":{"registered":"r","cookie":"c"}}"#
        #expect(try customer.summary(of: empty) == "mint EMPTY app/cookie=c/registered=r")
        #expect(try customer.summary(of: #"{"reason":"empty","customerIds":{"cookie":"c"}}"#) == "not_for_us EMPTY")
    }

    @Test func `a token without its user's cookie is rejected`() throws {
        let adapter = try makeAdapter(BloomreachAdapter.self, #"{"mode":"stream","ids":["registered","cookie"]}"#)
        let key = try SigningKey(text: "a secret", .hs512, keyID: "k")
        let both = Subject(identifiers: [.init(name: "registered", value: "r"), .init(name: "cookie", value: "c")])
        let one = Subject(identifiers: [.init(name: "registered", value: "r")])
        let token = try adapter.token(for: both, key: key)
        #expect(adapter.verdict(on: token, keys: [key], expecting: both) == "accepted")
        #expect(adapter.verdict(on: token, keys: [key], expecting: one) == "accepted")
        let lacking = try adapter.token(for: one, key: key)
        #expect(adapter.verdict(on: lacking, keys: [key], expecting: both) == "401 TOKEN_REJECTED")
    }

    @Test func `vouched ids are believed, as far as tokens may hold them`() throws {
        func summary(_ settings: String, _ vouched: String, _ report: String) throws -> String {
            let adapter = try makeAdapter(BloomreachAdapter.self, settings)
            let members = try JSONDocument(parsing: Array(#"{"ids":\#(vouched)}"#.utf8)).root
            let root = try JSONDocument(parsing: Array(report.utf8)).root
            do throws(Rejection) {
                let user = try adapter.user(vouchedBy: members)
                switch adapter.reading(of: Report(root, observedAt: now, vouched: user)) {
                case .rejected(let rejection): return rejection.code.rawValue
                case .failure(let failure):
                    return failure.subject.map { String(decoding: $0.key(app: "app"), as: UTF8.self) } ?? "nobody"
                }
            } catch { return error.code.rawValue }
        }
        let plain = #"{"mode":"stream"}"#, listed = #"{"mode":"customer_token","ids":["registered","cookie"]}"#
        let both = #"{"registered":"r","cookie":"c"}"#
        func report(_ ids: String) -> String { #"{"status":401,\#(ids)}"# }
        #expect(try summary(plain, both, report(#""customerIds":{"cookie":"x"}"#)) == "app/registered=r")
        #expect(try summary(listed, both, report(#""customerIds":{"cookie":"c"}"#)) == "app/cookie=c/registered=r")
        #expect(try summary(listed, both, report(#""customerIds":{"registered":"r"}"#)) == "app/cookie=c/registered=r")
        #expect(try summary(listed, both, report(#""customerIds":{"cookie":"x"}"#)) == "identity_mismatch")
        #expect(try summary(listed, #"{"cookie":"c"}"#, report(#""customerIds":{}"#)) == "malformed_event")
        let spellings = #""customerIds":{"registered":"r"},"customer_ids":{"registered":"s"}"#
        #expect(try summary(plain, both, report(spellings)) == "malformed_report")
    }

    private static let reissues: [ReportSample] = [
        .init(#"{"registered":"r","cookie":"c"}"#, "app/registered=r"), .init(#"{"cookie":"c"}"#, "missing_user"),
        .init(#"{}"#, "missing_user"), .init(#""r""#, "malformed_report"),
        .init(#"{"registered":7}"#, "malformed_report"),
    ]

    @Test(arguments: reissues) func `the ids of a batch job are understood`(_ sample: ReportSample) throws {
        let user = try JSONDocument(parsing: Array(sample.report.utf8)).root
        let adapter = try Self.stream.get()
        do throws(Rejection) {
            let subject = try adapter.user(reissuing: user)
            #expect(String(decoding: subject.key(app: "app"), as: UTF8.self) == sample.summary)
        } catch { #expect(error.code.rawValue == sample.summary) }
    }

    private static let large = LargeReport.all(naming: ["errorCode", "customerIds", "status"])

    @Test(.timeLimit(.minutes(5)), arguments: large) func `a large report to Bloomreach's adapter is read at once`(
        _ report: LargeReport
    )
        throws
    {
        _ = try Self.stream.get().summary(of: report.json)
    }
}
