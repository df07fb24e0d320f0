import AdapterKit
import AdapterTestSupport
import BrazeAdapter
import Testing

@Suite struct BrazePrintedMapTests {
    private static let adapter = Result { try makeAdapter(BrazeAdapter.self, "{}") }

    private func summary(of text: String) throws -> String {
        var json = JSONWriter()
        json.beginObject()
        json.member("sdkAuthenticationError", text)
        json.endObject()
        return try Self.adapter.get().summary(of: String(decoding: json.bytes, as: UTF8.self))
    }

    @Test(
        .timeLimit(.minutes(1)),
        arguments: ["\u{1F1E6}", "\u{1F468}\u{200D}", "\u{301}", "code=, ", ", ", ",", "{", "a"])
    func `answers a mebibyte of anything at once`(_ unit: String) throws {
        for count in [60_000, 1_000_000] {
            let text = String(repeating: unit, count: count / unit.utf8.count)
            _ = try summary(of: "{\(text)}")
            _ = try summary(of: "{code=22, reason=\(text), userId=u-1}")
        }
    }

    private static let maps: [ReportSample] = [
        .init("{code=22, userId=\u{301}u}", "mint EXPIRED app/%CC%81u"),
        .init("{code=22, reason=a,userId=x, userId=u}", "mint EXPIRED app/u"),
        .init("{code=22,userId=u}", "malformed_report"), .init("{code=22, userId=u,}", "mint EXPIRED app/u%2C"),
        .init("{code=22, , userId=u}", "malformed_report"), .init("{, code=22, userId=u}", "mint EXPIRED app/u"),
        .init("{code=22, reason=, , a, userId=u}", "mint EXPIRED app/u"), .init("{}", "malformed_report"),
        .init("{code}", "malformed_report"),
    ]

    @Test(arguments: maps) func `finds its keys at the beginning or after a comma`(_ sample: ReportSample) throws {
        #expect(try summary(of: sample.report) == sample.summary)
    }

    @Test func `refuses an issuer nobody can compare, and an empty SDK API key`() throws {
        let key = try SigningKey.generate(.rs256)
        for issuer in ["[]", "null", "7", "\"K\""] {
            let claims = #"{"sub":"u","exp":1800000001,"iss":\#(issuer)}"#
            let token = try HandMade.token(header: #"{"alg":"RS256","typ":"JWT"}"#, claims: claims, key: key)
            #expect(
                try Self.adapter.get().verdict(on: token, keys: [key], expecting: Subject(user: "u"))
                    == "23 INVALID_PAYLOAD")
        }
        let error = #expect(throws: SettingsError.self) { try makeAdapter(BrazeAdapter.self, #"{"sdk_api_key":""}"#) }
        #expect(error?.key == "sdk_api_key")
    }
}
