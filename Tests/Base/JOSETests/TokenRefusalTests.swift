import JOSE
import Testing

@testable import Formats

/// A protected header that no token may have, and why.
struct BadHeader: Sendable, CustomTestStringConvertible {
    let text: String
    let code: JOSEError.Code

    init(_ text: String, _ code: JOSEError.Code = .malformedHeader) {
        self.text = text
        self.code = code
    }

    var testDescription: String { text.count > 60 ? "\(text.prefix(60))… (\(text.utf8.count) bytes)" : text }

    static let all = [
        BadHeader(""), BadHeader(" "), BadHeader("null"), BadHeader("[]"), BadHeader(#""HS256""#), BadHeader("{}"),
        BadHeader(#"{"alg":null}"#), BadHeader(#"{"alg":["HS256"]}"#), BadHeader(#"{"alg":256}"#),
        BadHeader(#"{"ALG":"HS256"}"#), BadHeader(#"{"alg":"HS256"}{}"#), BadHeader(#"{"alg":"HS256"} x"#),
        BadHeader(#"{"alg":"HS256",}"#), BadHeader(#"{"alg":"HS256""#), BadHeader(#"{'alg':'HS256'}"#),
        BadHeader("\u{FEFF}" + #"{"alg":"HS256"}"#),
        // Two readers may disagree on which of the two counts.
        BadHeader(#"{"alg":"HS256","alg":"HS256"}"#), BadHeader(#"{"alg":"none","alg":"HS256"}"#),
        BadHeader(#"{"alg":"none","\u0061lg":"HS256"}"#), BadHeader(#"{"alg":"HS256","kid":"a","kid":"b"}"#),
        BadHeader(#"{"alg":"HS256","jwk":{"k":1,"\u006b":2}}"#),
        BadHeader(#"{"alg":"HS256","kid":7}"#), BadHeader(#"{"alg":"HS256","kid":null}"#),
        BadHeader(#"{"alg":"HS256","kid":["a"]}"#), BadHeader(#"{"alg":"HS256","kid":{"a":"b"}}"#),
        BadHeader(#"{"alg":"HS256","crit":["exp"],"exp":1}"#, .unsupportedCritical),
        BadHeader(#"{"alg":"HS256","crit":["b64"],"b64":false}"#, .unsupportedCritical),
        BadHeader(#"{"alg":"HS256","crit":[]}"#, .unsupportedCritical),
        BadHeader(#"{"alg":"HS256","crit":null}"#, .unsupportedCritical),
        BadHeader(#"{"alg":"HS256","\u0063rit":["x"]}"#, .unsupportedCritical),
        BadHeader(
            #"{"alg":"HS256","x":"# + String(repeating: "[", count: 16) + String(repeating: "]", count: 16) + "}"),
        BadHeader(String(repeating: "[", count: 10_000)),
        BadHeader(#"{"alg":"HS256","x":"# + String(repeating: #"{"a":"#, count: 2000)),
    ]
}

@Suite("Tokens that are refused")
struct TokenRefusalTests {
    private let key: SigningKey
    private let token: String
    private let parts: [String]

    init() throws {
        key = try SigningKey.generate(.hs256)
        token = try SampleToken.make(key)
        parts = token.parts
    }

    @Test func `the unspoiled token of these tests is good`() throws {
        try CompactJWS(text: token).verify(with: key.verificationKey)
    }

    @Test(arguments: BadHeader.all)
    func `a bad header is refused even if it is signed`(_ header: BadHeader) throws {
        let token = try SampleToken.make(key, header: header.text)
        expectRefusal(header.code) { try CompactJWS(text: token) }
    }

    @Test func `a header that is not UTF-8 is refused`() throws {
        let header = Base64.url.encode(Array(#"{"alg":"HS256","x":""#.utf8) + [0xFF] + Array(#""}"#.utf8))
        let token = try SampleToken.make(key, encodedHeader: header, payload: "{}")
        expectRefusal(.malformedHeader) { try CompactJWS(text: token) }
    }

    @Test func `a header as deep as the limit is accepted, and one level more is refused`() throws {
        func header(_ depth: Int) -> String {
            #"{"alg":"HS256","x":"# + String(repeating: "[", count: depth - 1)
                + String(repeating: "]", count: depth - 1) + "}"
        }
        for limit in [2, 16, 40] {
            let limits = CompactJWS.Limits(depth: limit)
            let fitting = try SampleToken.make(key, header: header(limit), payload: header(limit))
            let token = try CompactJWS(text: fitting, limits: limits)
            #expect(try token.claims().isObject)
            let deep = try SampleToken.make(key, header: header(limit + 1))
            expectRefusal(.malformedHeader) { try CompactJWS(text: deep, limits: limits) }
            let deepClaims = try SampleToken.make(key, payload: header(limit + 1))
            expectRefusal(.malformedPayload) { try CompactJWS(text: deepClaims, limits: limits).claims() }
        }
    }

    @Test func `a string of any number of parts but three is refused`() {
        for text in [
            "", "a", parts[0], parts[0] + "." + parts[1], token + ".", token + "." + parts[2], "." + token,
            parts[0] + "." + token, String(repeating: ".", count: 10_000),
        ] {
            expectRefusal(.notThreeParts, "\(text.prefix(20))") { try CompactJWS(text: text) }
        }
        expectRefusal(.malformedHeader) { try CompactJWS(text: "..") }
        expectRefusal(.malformedHeader) { try CompactJWS(text: "." + parts[1] + "." + parts[2]) }
        expectRefusal(.notThreeParts) { try CompactJWS(text: parts[0] + "." + parts[1] + "," + parts[2]) }
    }

    @Test func `a missing payload or signature is not the one that was signed`() throws {
        for text in [parts[0] + ".." + parts[2], parts[0] + "." + parts[1] + ".", parts[0] + ".."] {
            let token = try CompactJWS(text: text)
            expectRefusal(.signatureInvalid) { try token.verify(with: key.verificationKey) }
        }
    }

    @Test(arguments: [" ", "\n", "\r\n", "\t", "\0", "=", "==", "A", "!", "%3D", "\u{FEFF}", "é"])
    func `a character added at either end of the token or of one of its parts is refused`(_ extra: String) {
        for index in parts.indices {
            for spoilt in [extra + parts[index], parts[index] + extra] {
                var parts = parts
                parts[index] = spoilt
                let text = parts.joined(separator: ".")
                #expect(throws: JOSEError.self, "part \(index)") {
                    try CompactJWS(text: text).verify(with: key.verificationKey)
                }
            }
        }
    }

    @Test(arguments: [Base64.standard.encode([0xFB, 0xFF, 0xFE]), "a b", "a\nb", "a=bc", "a+bc", "a/bc"])
    func `the alphabet of plain base64 is refused`(_ part: String) {
        expectRefusal(.malformedHeader) { try CompactJWS(text: [part, parts[1], parts[2]].joined(separator: ".")) }
        expectRefusal(.notThreeParts) { try CompactJWS(text: [parts[0], part, parts[2]].joined(separator: ".")) }
        expectRefusal(.malformedSignature) { try CompactJWS(text: [parts[0], parts[1], part].joined(separator: ".")) }
    }

    @Test func `every second spelling of a part's last character is refused`() throws {
        // 1 and 2 bytes beyond a multiple of 3 leave 4 and 2 bits of the last character unused.
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
        for (header, payload) in [
            (#"{"alg":"HS256"} "#, "{} "), (#"{"alg":"HS256"}  "#, "{}  "), (#"{"alg":"HS256"}"#, "{}"),
        ] {
            let parts = try SampleToken.make(key, header: header, payload: payload).parts
            for index in parts.indices where parts[index].count % 4 != 0 {
                let last = try #require(parts[index].last)
                let value = try #require(alphabet.firstIndex(of: last))
                let unused = parts[index].count % 4 == 2 ? 16 : 4
                for other in 0..<unused where other != value % unused {
                    var spoilt = parts
                    spoilt[index] = parts[index].dropLast() + String(alphabet[value - value % unused + other])
                    let code: JOSEError.Code = [.malformedHeader, .notThreeParts, .malformedSignature][index]
                    expectRefusal(code) { try CompactJWS(text: spoilt.joined(separator: ".")) }
                }
            }
        }
    }

    @Test func `a token longer than the limit is refused before it is read`() throws {
        let count = token.utf8.count
        _ = try CompactJWS(text: token, limits: .init(bytes: count))
        expectRefusal(.tokenTooLarge) { try CompactJWS(text: token, limits: .init(bytes: count - 1)) }
        expectRefusal(.tokenTooLarge) { try CompactJWS(text: String(repeating: "A", count: 16 << 10 + 1)) }
        expectRefusal(.tokenTooLarge) { try CompactJWS(text: String(repeating: ".", count: 2_000_000)) }
    }

    @Test(arguments: ["", "null", "[]", "7", #""text""#, "{", #"{"a":1,"a":2}"#, #"{"a":1,"\u0061":2}"#, "\u{FEFF}{}"])
    func `claims that are not an object with unique members are refused`(payload: String) throws {
        let token = try CompactJWS(text: SampleToken.make(key, payload: payload))
        try token.verify(with: key.verificationKey)
        #expect(token.payload == Array(payload.utf8))
        expectRefusal(.malformedPayload) { try token.claims() }
    }
}
