import AdapterKit
import AdapterTestKit
import Testing

@Suite struct ReportFixtureTests {
    private static let now = UnixTime(seconds: 1_800_000_000)

    private func fixture(
        report: String = #""report":{}"#, expect: String = #"{"rejected":"missing_user"}"#
    ) throws -> ReportFixture {
        let text = #"{"sdk":"iOS","reported":"expired","app":"shop",\#(report),"expect":\#(expect)}"#
        return try ReportFixture(name: "sample", parsing: Array(text.utf8))
    }

    private func report(_ member: String) throws -> String { text(try fixture(report: member).report(at: Self.now)) }

    @Test func `a fixture has the fields of its file`() throws {
        let fixture = try fixture(report: #""report": {"code" : 22}"#)
        #expect(fixture.name == "sample")
        #expect(fixture.sdk == "iOS")
        #expect(fixture.reported == "expired")
        #expect(fixture.app == "shop")
        #expect(fixture.expectation == .rejected(.missingUser))
        #expect(text(fixture.report(at: Self.now)) == #"{"code" : 22}"#)
    }

    @Test func `a fixture's placeholders become moments around now`() throws {
        #expect(try report(#""report":{"end":"{{now+240s}}"}"#) == #"{"end":"2027-01-15T08:04:00Z"}"#)
        #expect(
            try report(#""report":["{{now-10s}}","{{now+0s}}"]"#) == #"["2027-01-15T07:59:50Z","2027-01-15T08:00:00Z"]"#
        )
        #expect(
            try report(#""report_text":"a{{now-1s}}b{{now+1s}}c""#) == "a2027-01-15T07:59:59Zb2027-01-15T08:00:01Zc")
        #expect(try report(#""report":"{{now+9223372036854775807s}}""#) == #""9999-12-31T23:59:59.999999Z""#)
    }

    @Test(arguments: [
        "{{now", "{{now}}", "{{now+s}}", "{{now+1m}}", "{{now+99999999999999999999s}}", "{{later+1s}}", "{{", "s}}",
    ])
    func `a placeholder that is no moment is not replaced`(_ template: String) throws {
        #expect(try report(#""report_text":"x\#(template)y""#) == "x\(template)y")
    }

    @Test func `a fixture's report need not be JSON`() throws {
        #expect(try report(#""report_text":"{\"code\":""#) == #"{"code":"#)
    }

    @Test func `a fixture's expectation is parsed in its full and its short form`() throws {
        let full = #"{"remedy":"mint","reason":"EXPIRED","subject":"app/u","failed_token":true}"#
        #expect(
            try fixture(expect: full).expectation
                == .failure(remedy: "mint", reason: "EXPIRED", subject: "app/u", hasFailedToken: true))
        let short = #"{"remedy":"not_for_us","reason":"EXPIRED"}"#
        #expect(
            try fixture(expect: short).expectation
                == .failure(remedy: "not_for_us", reason: "EXPIRED", subject: nil, hasFailedToken: false))
    }

    @Test(arguments: [
        #"{"#, #"[]"#, #"{"sdk":"a","reported":"b","report":{},"expect":{"rejected":"missing_user"}}"#,
        #"{"sdk":"a","reported":"b","app":"c","expect":{"rejected":"missing_user"}}"#,
        #"{"sdk":"a","reported":"b","app":"c","report":{}}"#,
        #"{"sdk":"a","reported":"b","app":"c","report":{},"expect":{"rejected":"no_such_code"}}"#,
        #"{"sdk":"a","reported":"b","app":"c","report":{},"expect":{"remedy":"mint"}}"#,
        #"{"sdk":1,"reported":"b","app":"c","report":{},"expect":{"rejected":"missing_user"}}"#,
    ])
    func `a fixture that lacks something is refused by its file's name`(_ file: String) {
        let error = #expect(throws: Rejection.self) { try ReportFixture(name: "sample", parsing: Array(file.utf8)) }
        #expect(error?.code == .malformedReport)
        #expect(error?.detail.hasPrefix("sample: ") == true)
    }

    @Test func `a reading is compared in the words of the fixtures`() {
        typealias Expectation = ReportFixture.Expectation
        #expect(Expectation(.rejected(Rejection(.missingUser, "x"))) == .rejected(.missingUser))
        let failure = AuthenticationFailure(
            subject: Subject(user: "u", challenge: "n"), reason: "R", evidence: .key, remedy: .mintOnce,
            failedToken: FailedToken("t"))
        #expect(
            Expectation(.failure(failure))
                == .failure(remedy: "mint_once", reason: "R", subject: "app/u/n", hasFailedToken: true))
        #expect(Remedy.notFixable("x").name == "not_fixable")
        #expect(Remedy.notForUs("x").name == "not_for_us")
        #expect(Remedy.mint.mints && Remedy.mintOnce.mints)
        #expect(!Remedy.notFixable("").mints && !Remedy.notForUs("").mints)
    }
}
