import Testing

@testable import Formats
@_spi(Decryption) @testable import JOSE

/// A header that no encrypted token may have, and why. `EPK` stands for a good ephemeral key, `ALG` for the key's algorithm.
struct BadEncryptionHeader: Sendable, CustomTestStringConvertible {
    let text: String
    let code: JOSEError.Code

    init(_ text: String, _ code: JOSEError.Code = .malformedHeader) {
        self.text = text
        self.code = code
    }

    var testDescription: String { text.count > 100 ? "\(text.prefix(100))… (\(text.utf8.count) bytes)" : text }

    private static func good(and more: String) -> String { #"{"alg":"ALG","enc":"A256GCM","epk":EPK,\#(more)}"# }

    /// Refused whatever the algorithm. Those for an RSA key lose their `epk`.
    static let all: [BadEncryptionHeader] =
        [
            BadEncryptionHeader(""), BadEncryptionHeader("null"), BadEncryptionHeader("[]"), BadEncryptionHeader("{}"),
            BadEncryptionHeader(#"{"enc":"A256GCM","epk":EPK}"#),
            BadEncryptionHeader(#"{"alg":null,"enc":"A256GCM","epk":EPK}"#),
            BadEncryptionHeader(#"{"alg":["ALG"],"enc":"A256GCM","epk":EPK}"#),
            BadEncryptionHeader(#"{"alg":"ALG","epk":EPK}"#),
            BadEncryptionHeader(#"{"alg":"ALG","enc":7,"epk":EPK}"#),
            BadEncryptionHeader(#"{"alg":"ALG","ENC":"A256GCM","epk":EPK}"#),
            BadEncryptionHeader(#"{"alg":"ALG","enc":"A256GCM","epk":EPK}{}"#),
            BadEncryptionHeader(#"{"alg":"ALG","alg":"ALG","enc":"A256GCM","epk":EPK}"#),
            BadEncryptionHeader(#"{"alg":"dir","\u0061lg":"ALG","enc":"A256GCM","epk":EPK}"#),
            BadEncryptionHeader(good(and: #""enc":"A256GCM""#)), BadEncryptionHeader(good(and: #""kid":7"#)),
            BadEncryptionHeader(good(and: #""kid":null"#)),
            BadEncryptionHeader(good(and: #""crit":["exp"],"exp":1"#), .unsupportedCritical),
            BadEncryptionHeader(good(and: #""crit":[]"#), .unsupportedCritical),
            BadEncryptionHeader(good(and: #""crit":null"#), .unsupportedCritical),
            BadEncryptionHeader(good(and: #""zip":"DEF""#), .unsupportedCompression),
            BadEncryptionHeader(good(and: #""zip":"none""#), .unsupportedCompression),
            BadEncryptionHeader(good(and: #""zip":null"#), .unsupportedCompression),
            BadEncryptionHeader(good(and: #""\u007aip":"DEF""#), .unsupportedCompression),
            BadEncryptionHeader(good(and: #""p2c":1000000"#)), BadEncryptionHeader(good(and: #""p2s":"AAAA""#)),
            BadEncryptionHeader(good(and: #""iv":"AAAA""#)), BadEncryptionHeader(good(and: #""tag":"AAAA""#)),
            BadEncryptionHeader(
                good(and: #""x":"# + String(repeating: "[", count: 16) + String(repeating: "]", count: 16))),
        ] + algorithms

    private static let algorithms =
        [
            "none", "dir", "", "RSA1_5", "RSA-OAEP", "RSA-OAEP-384", "RSA-OAEP-512", "A256KW", "A256GCMKW", "ECDH-ES",
            "ECDH-ES+A128KW", "ECDH-ES+A192KW", "PBES2-HS512+A256KW", "rsa-oaep-256", "ECDH-ES+A256KW ", "ES256",
            "HS256",
        ].map { BadEncryptionHeader(#"{"alg":"\#($0)","enc":"A256GCM","epk":EPK}"#, .unsupportedAlgorithm) }
        + ["A128GCM", "A192GCM", "A128CBC-HS256", "A256CBC-HS512", "a256gcm", "none", ""].map {
            BadEncryptionHeader(#"{"alg":"ALG","enc":"\#($0)","epk":EPK}"#, .unsupportedAlgorithm)
        }

    static let agreements: [BadEncryptionHeader] =
        [#""apu":7"#, #""apv":null"#, #""apu":"a+b=""#, #""apv":"A""#].map { BadEncryptionHeader(good(and: $0)) }
        + [BadEncryptionHeader(#"{"alg":"ALG","enc":"A256GCM"}"#)]
        + keys.map { BadEncryptionHeader(#"{"alg":"ALG","enc":"A256GCM","epk":\#($0)}"#) }

    private static let keys: [String] = {
        func key(_ curve: String, _ x: String, _ y: String, _ more: String = "") -> String {
            #"{"kty":"EC","crv":"\#(curve)","x":"\#(x)","y":"\#(y)"\#(more)}"#
        }
        func repeated(_ byte: UInt8, _ count: Int) -> String {
            Base64.url.encode([UInt8](repeating: byte, count: count))
        }
        let (x, y) = ("weNJy2HscCSM6AEDTDg04biOvhFhyyWvOHQfeF_PxMQ", "e8lnCO-AlStT-NJVX-crhB7QRYhiix03illJOVAOyck")
        return [
            "null", "7", #""EPK""#, "[EPK]", "{}", #"{"kty":"EC"}"#, #"{"kty":"RSA","n":"AQAB","e":"AQAB"}"#,
            #"{"kty":"oct","k":"AAAA"}"#, #"{"kty":"OKP","crv":"X25519","x":"\#(x)"}"#,
            #"{"kty":"OKP","crv":"Ed25519","x":"\#(x)"}"#, #"{"kty":"EC","crv":"P-256","x":"\#(x)"}"#,
            #"{"crv":"P-256","x":"\#(x)","y":"\#(y)"}"#,
            // Off the curve, of another curve, beyond the field, and the point that is none.
            key("P-256", x, x), key("P-256", x, repeated(5, 32)), key("P-256", repeated(0, 32), repeated(0, 32)),
            key("P-256", repeated(0xFF, 32), repeated(0xFF, 32)), key("P-256", y, x), key("P-384", x, y),
            key("P-384", repeated(1, 48), repeated(1, 48)), key("secp256k1", x, y), key("prime256v1", x, y),
            key("P-256", "", ""), key("P-256", x, ""), key("P-256", repeated(0, 33), y), key("P-256", x, y + "AA"),
            key("P-256", x + "=", y), key("P-256", x, y, #","d":"AQ""#), key("P-256", x, y, #","x":"AQ""#),
        ]
    }()
}

@Suite("Encrypted tokens that are refused", .timeLimit(.minutes(5)))
struct EncryptionRefusalTests {
    private let key: JWEDecryptionKey
    private let token: String
    private let parts: [String]

    init() throws {
        key = try SampleRecipient.p256.key
        token = try key.recipient.seal(text: ForgedJWE.plaintext)
        parts = token.parts
    }

    @Test func `the unspoiled headers of these tests are good`() throws {
        for header in [
            #"{"alg":"ALG","enc":"A256GCM","epk":EPK}"#, #"{"x":{"y":[1]},"enc":"A256GCM","alg":"ALG","epk":EPK}"#,
            #" {"alg":"ALG" , "enc":"A256GCM","epk":EPK,"typ":"JWT","cty":"JWT","kid":"nobody's"} "#,
        ] {
            #expect(try key.open(text: ForgedJWE.make(header, to: key)) == ForgedJWE.plaintext)
            let rsa = try SampleRecipient.rsa2048.key
            let plain = header.replacing(#","epk":EPK"#, with: "")
            #expect(try rsa.open(text: ForgedJWE.make(plain, to: rsa)) == ForgedJWE.plaintext)
        }
    }

    @Test(arguments: BadEncryptionHeader.all)
    func `a bad header is refused even if it is authentic`(_ header: BadEncryptionHeader) throws {
        let agreed = try ForgedJWE.make(header.text, to: key)
        expectRefusal(header.code) { try key.open(text: agreed) }
        let rsa = try SampleRecipient.rsa2048.key
        let transported = try ForgedJWE.make(header.text.replacing(#","epk":EPK"#, with: ""), to: rsa)
        expectRefusal(header.code) { try rsa.open(text: transported) }
    }

    @Test(arguments: BadEncryptionHeader.agreements)
    func `an agreement with a bad ephemeral key or bad parties is refused`(
        _ header: BadEncryptionHeader
    ) throws {
        let token = try ForgedJWE.make(header.text, to: key)
        expectRefusal(header.code) { try key.open(text: token) }
    }

    @Test(arguments: [#""epk":{}"#, #""apu":"AAAA""#, #""apv":"AAAA""#])
    func `members of an agreement beside an encrypted key are refused`(_ member: String) throws {
        let rsa = try SampleRecipient.rsa2048.key
        let token = try ForgedJWE.make(#"{"alg":"ALG","enc":"A256GCM",\#(member)}"#, to: rsa)
        expectRefusal(.malformedHeader) { try rsa.open(text: token) }
    }

    @Test func `an ephemeral key on another curve than the key's does not open`() throws {
        for (sealed, other) in [(SampleRecipient.p384, SampleRecipient.p256), (.p256, .p384)] {
            let token = try CompactJWE(text: sealed.key.recipient.seal(text: "{}"))
            expectRefusal(.algorithmMismatch) { try token.open(with: other.key) }
        }
    }

    @Test func `the key's algorithm counts and not the header's`() throws {
        let rsa = try SampleRecipient.rsa2048.key
        let transported = try rsa.recipient.seal(text: "{}")
        expectRefusal(.algorithmMismatch) { try key.open(text: transported) }
        expectRefusal(.algorithmMismatch) { try rsa.open(text: token) }
        // The one key's token under the header of the other's.
        let confused = ([transported.parts[0]] + parts[1...]).joined(separator: ".")
        expectRefusal(.algorithmMismatch) { try key.open(text: confused) }
        expectRefusal(.decryptionFailed) { try rsa.open(text: confused) }
        let reversed = ([parts[0]] + transported.parts[1...]).joined(separator: ".")
        expectRefusal(.algorithmMismatch) { try rsa.open(text: reversed) }
        expectRefusal(.decryptionFailed) { try key.open(text: reversed) }
    }

    @Test func `a string of any number of parts but five is refused`() throws {
        let signed = try SampleToken.make(SampleKeys.make(.hs256))
        for text in [
            "", "a", "....." + token, token + ".", token + "." + parts[4], "." + token, signed,
            parts[..<4].joined(separator: "."), String(repeating: ".", count: 10_000),
        ] {
            expectRefusal(.notFiveParts, "\(text.prefix(20))") { try CompactJWE(text: text) }
        }
        expectRefusal(.malformedHeader) { try CompactJWE(text: "....") }
        expectRefusal(.notThreeParts) { try CompactJWS(text: token) }
    }

    @Test func `an empty part is refused`() throws {
        let codes: [JOSEError.Code] = [
            .malformedHeader, .decryptionFailed, .malformedCiphertext, .decryptionFailed, .malformedCiphertext,
        ]
        for (index, code) in codes.enumerated() {
            var spoilt = parts
            spoilt[index] = ""
            expectRefusal(code, "part \(index)") { try key.open(text: spoilt.joined(separator: ".")) }
        }
    }

    @Test(arguments: [0, 1, 8, 11, 13, 16, 24, 4096])
    func `an initialization vector or a tag of any other width is refused`(count: Int) {
        let part: String = Base64.url.encode([UInt8](repeating: 0, count: count))
        for (index, width) in [(2, 12), (4, 16)] where count != width {
            var spoilt = parts
            spoilt[index] = part
            expectRefusal(.malformedCiphertext) { try CompactJWE(text: spoilt.joined(separator: ".")) }
        }
    }

    @Test(arguments: [" ", "\n", "\t", "\0", "=", "==", "A", "!", "%3D", "\u{FEFF}", "é", "+", "/"])
    func `a character added at either end of a part is refused`(_ extra: String) {
        for index in parts.indices {
            for part in [extra + parts[index], parts[index] + extra] {
                var spoilt = parts
                spoilt[index] = part
                let text = spoilt.joined(separator: ".")
                #expect(throws: JOSEError.self, "part \(index)") { try key.open(text: text) }
            }
        }
    }

    @Test func `every second spelling of a part's last character is refused`() throws {
        // 1 and 2 bytes beyond a multiple of 3 leave 4 and 2 bits of the last character unused.
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
        var spellings = 0
        for plaintext in ["a", "ab"] {
            let parts = try key.recipient.seal(text: plaintext).parts
            for index in 1..<5 where parts[index].count % 4 != 0 {
                let value = try #require(parts[index].last.flatMap { alphabet.firstIndex(of: $0) })
                let unused = parts[index].count % 4 == 2 ? 16 : 4
                for other in 0..<unused where other != value % unused {
                    var spoilt = parts
                    spoilt[index] = parts[index].dropLast() + String(alphabet[value - value % unused + other])
                    expectRefusal(.malformedCiphertext) { try CompactJWE(text: spoilt.joined(separator: ".")) }
                    spellings += 1
                }
            }
        }
        #expect(spellings > 40)
    }

    @Test func `a token longer than the limit is refused before it is read`() throws {
        let count = token.utf8.count
        _ = try CompactJWE(text: token, limits: .init(bytes: count))
        expectRefusal(.tokenTooLarge) { try CompactJWE(text: token, limits: .init(bytes: count - 1)) }
        expectRefusal(.tokenTooLarge) { try CompactJWE(text: String(repeating: "A", count: 16 << 10 + 1)) }
        expectRefusal(.tokenTooLarge) { try CompactJWE(text: String(repeating: ".", count: 2_000_000)) }
    }
}
