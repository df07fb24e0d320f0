import AdapterKit
import Testing

/// A report's JSON and what its fields `a`, `b`, `c`, tried in this order, amount to.
struct FieldSample: CustomTestStringConvertible {
    let json: String
    let field: ReportField

    init(_ json: String, _ field: ReportField) {
        self.json = json
        self.field = field
    }

    var testDescription: String { json }
}

@Suite struct ReportFieldTests {
    private static let samples: [FieldSample] = [
        .init(#"{}"#, .absent),
        .init(#"{"d":1}"#, .absent),
        .init(#"[]"#, .absent),
        .init(#""a""#, .absent),
        .init(#"null"#, .absent),
        .init(#"{"a":null}"#, .null),
        .init(#"{"a":""}"#, .null),
        .init(#"{"a":"x"}"#, .text("x")),
        .init(#"{"a":" "}"#, .text(" ")),
        .init(#"{"\u0061":"x"}"#, .text("x")),
        .init(#"{"a":22}"#, .integer(22)),
        .init(#"{"a":-0}"#, .integer(0)),
        .init(#"{"a":9223372036854775807}"#, .integer(.max)),
        .init(#"{"a":9223372036854775808}"#, .other),
        .init(#"{"a":1e2}"#, .integer(100)),
        .init(#"{"a":1e999}"#, .other),
        .init(#"{"a":22.0}"#, .integer(22)),
        .init(#"{"a":2.2e1}"#, .integer(22)),
        .init(#"{"a":22.5}"#, .other),
        .init(#"{"a":true}"#, .other),
        .init(#"{"a":{}}"#, .other),
        .init(#"{"a":[]}"#, .other),
        .init(#"{"c":"3","b":"2","a":"1"}"#, .text("1")),
        .init(#"{"a":null,"b":"2","c":"3"}"#, .text("2")),
        .init(#"{"a":"","c":3}"#, .integer(3)),
        .init(#"{"c":null}"#, .null),
        .init(#"{"a":false,"b":"2"}"#, .other),
    ]

    @Test(arguments: samples) func `the first of a field's names that holds a value is used`(_ sample: FieldSample)
        throws
    {
        #expect(try Report(sample.json).field("a", "b", "c") == sample.field)
    }

    @Test func `an integer is read from a JSON number or from a string`() {
        #expect(ReportField.integer(22).integerValue == 22)
        #expect(ReportField.text("22").integerValue == 22)
        #expect(ReportField.text("-1").integerValue == -1)
        #expect(ReportField.text("22.0").integerValue == 22)
        for text in ["22.5", "0x16", " 22", "99999999999999999999", "twenty", "２２"] {
            #expect(ReportField.text(text).integerValue == nil)
        }
        for field in [ReportField.absent, .null, .other] { #expect(field.integerValue == nil) }
        #expect(ReportField.text("x").text == "x")
        #expect(ReportField.integer(1).text == nil)
    }

    @Test func `a reported user, a null and an unusable member are three cases`() {
        #expect(ReportedUser(.text("u"), name: "userId") == .identified("u"))
        #expect(ReportedUser(.null, name: "userId") == .anonymous)
        func code(_ field: ReportField) -> ErrorCode? {
            guard case .unusable(let rejection) = ReportedUser(field, name: "userId") else { return nil }
            #expect(rejection.detail.contains("userId"))
            return rejection.code
        }
        #expect(code(.absent) == .missingUser)
        #expect(code(.integer(12345)) == .malformedReport)
        #expect(code(.other) == .malformedReport)
    }

    @Test func `members other than the vendor's own are detected`() throws {
        let report = try Report(#"{"a":1,"b":2}"#)
        #expect(!report.hasMembers(besides: ["a", "b", "c"]))
        #expect(report.hasMembers(besides: ["a"]))
        #expect(try !Report("[]").hasMembers(besides: []))
    }

    @Test func `a report inside a string is read within its limits`() {
        #expect(Report.parse(#"{"a":1}"#)?["a"]?.integer == 1)
        for text in ["", "a", "{", "{\"a\":1}x", "{a=1}"] { #expect(Report.parse(text) == nil) }
        #expect(Report.parse(String(repeating: "[", count: 9) + String(repeating: "]", count: 9)) == nil)
        #expect(Report.parse("\"" + String(repeating: "a", count: 65_535) + "\"") == nil)
        #expect(Report.parse("\"" + String(repeating: "a", count: 65_534) + "\"") != nil)
    }

    @Test func `a wrapped report keeps the outer report's moment`() throws {
        let report = try Report(#"{"inner":{"a":1}}"#)
        let inner = report.with(root: try #require(report.root["inner"]))
        #expect(inner.observedAt == report.observedAt)
        #expect(inner.field("a") == .integer(1))
    }
}
