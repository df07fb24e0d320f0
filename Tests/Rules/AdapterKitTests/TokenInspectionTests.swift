import AdapterKit
@_spi(Signing) import JOSE
import Testing

/// A claim's JSON and the seconds it stands for.
struct TimeClaim: CustomTestStringConvertible {
    let json: String
    let seconds: Int64?

    init(_ json: String, _ seconds: Int64?) {
        self.json = json
        self.seconds = seconds
    }

    var testDescription: String { json }
}

@Suite struct TokenInspectionTests {
    private func part(_ text: String) -> String { Base64.url.encode(Array(text.utf8)) }

    private func inspect(_ token: String) -> TokenInspection { TokenInspection(Array(token.utf8)) }

    @Test func `the parts of a token are counted up to four`() {
        #expect(inspect("").partCount == 0)
        #expect(inspect("a").partCount == 1)
        #expect(inspect("..").partCount == 3)
        #expect(inspect("a.b.c.d").partCount == 4)
        #expect(inspect(String(repeating: ".", count: 100_000)).partCount == 4)
    }

    @Test func `the header and the claims are shown if they are objects, independently of each other`() {
        let both = inspect("\(part(#"{"alg":"none"}"#)).\(part(#"{"sub":"u"}"#))")
        #expect(both.header?["alg"]?.string == "none")
        #expect(both.claims?["sub"]?.string == "u")
        #expect(inspect("!.\(part("{}"))").header == nil)
        #expect(inspect("!.\(part("{}"))").claims != nil)
        for text in [
            "", "[]", "1", "null", "{", #"{"a":1,"a":2}"#,
            String(repeating: #"{"a":"#, count: 17) + "1" + String(repeating: "}", count: 17),
        ] {
            #expect(inspect("\(part(text)).\(part(text)).").header == nil)
            #expect(inspect("\(part(text)).\(part(text)).").claims == nil)
        }
        #expect(inspect("\(part("{}"))=.e30.").header == nil)
    }

    private static let times: [TimeClaim] = [
        .init("1800000000", 1_800_000_000), .init("1800000000.9", 1_800_000_000), .init("-1", -1),
        .init("1.8e9", 1_800_000_000),
        .init("999999999999999", 999_999_999_999_999), .init("1e15", nil), .init("-1e15", nil), .init("1e308", nil),
        .init("1e400", nil), .init("9223372036854775808", nil), .init("\"1800000000\"", nil), .init("null", nil),
        .init("true", nil), .init("[]", nil),
    ]

    @Test(arguments: times) func `a time claim of any size is read without trapping`(_ time: TimeClaim) {
        #expect(inspect("e30.\(part(#"{"exp":\#(time.json)}"#)).").time("exp") == time.seconds)
        #expect(inspect("e30.\(part(#"{"exp":\#(time.json)}"#)).").time("iat") == nil)
    }

    @Test func `a signature is trusted only on a whole token, and only from one of the keys`() throws {
        let key = try SigningKey.generate(.hs256, keyID: "a")
        let input = SigningInput(encodedHeader: Array(part(#"{"alg":"HS256"}"#).utf8), payload: Array("{}".utf8))
        let token = input.token(signature: try Signer(key).sign(input.bytes))
        let other = try SigningKey.generate(.hs256).verificationKey
        #expect(TokenInspection(token).isSigned(byAnyOf: [other, key.verificationKey]))
        #expect(!TokenInspection(token).isSigned(byAnyOf: [other]))
        #expect(!TokenInspection(token).isSigned(byAnyOf: []))
        #expect(!TokenInspection(token + [UInt8(ascii: ".")]).isSigned(byAnyOf: [key.verificationKey]))
        #expect(!TokenInspection(Array(token.dropLast())).isSigned(byAnyOf: [key.verificationKey]))
        #expect(!TokenInspection([]).isSigned(byAnyOf: [key.verificationKey]))
    }
}
