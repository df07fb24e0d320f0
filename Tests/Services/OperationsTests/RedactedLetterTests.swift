import AdapterKit
import Pipeline
import Testing

@testable import Operations

/// Tests of a dead letter's headers and value as a person sees them.
@Suite struct RedactedLetterTests {
    private static let token = "eyJhbGciOiJSUzI1NiJ9.ZG8tbm90LXNob3c.c2lnbmF0dXJl"
    private static let opaque = String(repeating: "0123456789abcdef", count: 4)

    private static func letter(_ value: String?, _ headers: [(String, String)] = []) -> RedactedLetter {
        RedactedLetter(
            InputRecord(
                origin: RecordPosition(topic: "remint.dead-letters", partition: 0, offset: 0), timestamp: nil, key: nil,
                value: value.map { Array($0.utf8) }, headers: headers.map { RecordHeader($0, $1) }, lane: .retries))
    }

    @Test(arguments: [
        #"{"a":"SECRET"}"#.replacing("SECRET", with: token), #"{"signature":"SECRET"}"#, #"{"Device-Token":"SECRET"}"#,
        #"{"user_hash":"SECRET"}"#, #"{"a":{"session_id":["SECRET"]}}"#, #"{"apiKey":{"x":"SECRET"}}"#,
        #"{"a":"Bearer SECRET is refused"}"#.replacing("SECRET", with: token),
        #"{"a":"SECRET"}"#.replacing("SECRET", with: opaque), #""SECRET""#.replacing("SECRET", with: token),
        #"{"pwd":"SECRET"}"#, #"{"passwd":"SECRET"}"#, #"{"smtp_pass":"SECRET"}"#, #"{"smtpPass":"SECRET"}"#,
        #"{"auth":"SECRET"}"#, #"{"accessKey":"SECRET"}"#, #"{"X-Auth-Key":"SECRET"}"#, #"{"pin":1}"#,
        #"{"OTP":123456}"#,
        #"{"a":"{\"token\":\"SECRET\"}"}"#, #"{"a":"[{\"b\":\"{\\\"pwd\\\":\\\"SECRET\\\"}\"}]"}"#,
        #"{"sig":"SECRET"}"#, #"{"SECRET":1}"#.replacing("SECRET", with: token),
    ])
    func `a secret in the value is replaced by its size`(_ value: String) throws {
        let shown = String(decoding: try #require(Self.letter(value).value), as: UTF8.self)
        for secret in ["SECRET", "eyJ", Self.opaque] { #expect(!shown.contains(secret), "\(shown)") }
        #expect(shown.contains("(redacted, "), "\(shown)")
    }

    @Test func `ids, codes and texts of a report are shown`() throws {
        let value =
            #"{"app":"web","report":{"code":22,"userId":"ann@example.com","message":"the JWT is not valid","passenger":"1 of 2","spinning":"no","author":"ann","ok":true,"none":null,"id":"0f0f0f0f-1111-2222-3333-444444444444"}}"#
        #expect(String(decoding: try #require(Self.letter(value).value), as: UTF8.self) == value)
    }

    @Test func `a header that holds JSON is shown without the secrets in it`() {
        let header = Self.letter("", [("x-context", #"{"user":"ann","otp":"123456"}"#)]).headers.first
        #expect(header?.value == #"{"user":"ann","otp":"(redacted, 6 bytes)"}"#)
    }

    @Test func `a producer's secret header is hidden, and a worker's header is shown`() {
        let headers = Self.letter(
            "no JSON",
            [
                ("authorization", "Basic SECRET"), ("x-trace", Self.token), ("ce_id", "e-1"),
                (HopHeaders.refusedKeyID, Self.opaque),
            ])
        #expect(headers.value == nil && headers.valueBytes == 7)
        #expect(headers.headers.map(\.name) == ["authorization", "x-trace", "ce_id", HopHeaders.refusedKeyID])
        #expect(!headers.headers.contains { $0.value.contains("SECRET") || $0.value.contains("eyJ") })
        #expect(headers.headers[2].value == "e-1" && headers.headers[3].value == Self.opaque)
    }
}
