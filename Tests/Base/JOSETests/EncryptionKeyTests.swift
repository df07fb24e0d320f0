import Foundation
import Testing

@testable import Formats
@_spi(Decryption) @testable import JOSE

/// A recipient's JWK with something done to it.
struct SpoiltRecipient: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let recipient: SampleRecipient
    /// New values, as JSON; nil removes the member.
    let changes: [String: String?]
    let code: JOSEError.Code

    private init(
        _ what: String, _ recipient: SampleRecipient, _ changes: [String: String?],
        code: JOSEError.Code = .invalidKey
    ) {
        testDescription = "\(recipient): \(what)"
        self.recipient = recipient
        self.changes = changes
        self.code = code
    }

    var text: SecretBytes {
        get throws { try SpoiltRecipient.text(of: recipient, changes) }
    }

    /// The recipient's public JWK with these changes.
    static func text(of recipient: SampleRecipient, _ changes: [String: String?]) throws -> SecretBytes {
        let json = try JSONDocument(parsing: recipient.key.recipient.publicJSON()).root
        var members = json.members.map { (name: $0.name, json: String(decoding: $0.value.json, as: UTF8.self)) }
        for (name, value) in changes {
            members.removeAll { $0.name == name }
            if let value { members.append((name, value)) }
        }
        return SecretBytes(text: "{" + members.map { #""\#($0.name)":\#($0.json)"# }.joined(separator: ",") + "}")
    }

    static let all: [SpoiltRecipient] =
        [.p256, .rsa2048].flatMap { (recipient: SampleRecipient) in
            [
                SpoiltRecipient("no alg", recipient, ["alg": nil]),
                SpoiltRecipient("alg is a number", recipient, ["alg": "7"]),
                SpoiltRecipient("for signatures", recipient, ["use": #""sig""#]),
                SpoiltRecipient("use is an array", recipient, ["use": #"["enc"]"#]),
                SpoiltRecipient("kid is a number", recipient, ["kid": "7"]),
                SpoiltRecipient("no kty", recipient, ["kty": nil]),
                SpoiltRecipient("a shared secret", recipient, ["kty": #""oct""#, "k": #""AAAA""#]),
                SpoiltRecipient("OKP", recipient, ["kty": #""OKP""#, "crv": #""X25519""#]),
            ]
                + ["RSA-OAEP", "RSA1_5", "ECDH-ES", "ECDH-ES+A128KW", "dir", "A256KW", "ES256", "RS256", "none", ""].map
            {
                SpoiltRecipient(
                    "alg is \"\($0)\"", recipient, ["alg": "\"\($0)\""], code: .unsupportedAlgorithm)
            }
                + ["d", "p", "q", "dp", "dq", "qi", "oth", "k"].map {
                    SpoiltRecipient("has a private \($0)", recipient, [$0: #""AQAB""#])
                }
        } + points + numbers

    private static let points = [
        SpoiltRecipient("the other algorithm", .p256, ["alg": #""RSA-OAEP-256""#]),
        SpoiltRecipient("no x", .p256, ["x": nil]), SpoiltRecipient("no y", .p256, ["y": nil]),
        SpoiltRecipient("no crv", .p256, ["crv": nil]),
        SpoiltRecipient("a point off the curve", .p256, ["y": #""BQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQU""#]),
        SpoiltRecipient("another curve", .p256, ["crv": #""P-384""#]),
        SpoiltRecipient("secp256k1", .p256, ["crv": #""secp256k1""#]),
        SpoiltRecipient("short x", .p256, ["x": #""AQAB""#]),
    ]

    private static let numbers = [
        SpoiltRecipient("the other algorithm", .rsa2048, ["alg": #""ECDH-ES+A256KW""#]),
        SpoiltRecipient("no n", .rsa2048, ["n": nil]), SpoiltRecipient("no e", .rsa2048, ["e": nil]),
        SpoiltRecipient(
            "an even modulus", .rsa2048,
            ["n": "\"\(Base64.url.encode([UInt8](repeating: 0xFE, count: 256)) as String)\""]),
        SpoiltRecipient(
            "more bits than are used", .rsa2048,
            ["n": "\"\(Base64.url.encode([UInt8](repeating: 0xFF, count: 2200)) as String)\""]),
        SpoiltRecipient("an exponent of one", .rsa2048, ["e": #""AQ""#]),
        SpoiltRecipient("an even exponent", .rsa2048, ["e": #""Ag""#]),
        SpoiltRecipient(
            "1024 bits", .rsa2048, ["n": "\"\(Base64.url.encode([UInt8](repeating: 0xFF, count: 128)) as String)\""],
            code: .weakKey),
    ]
}

@Suite("Keys of encryption")
struct EncryptionKeyTests {
    @Test(arguments: SampleRecipient.all)
    func `a recipient's public JWK is a recipient again`(_ recipient: SampleRecipient) throws {
        let key = try recipient.key
        let json = try key.recipient.publicJSON()
        let root = try JSONDocument(parsing: json).root
        #expect(root["use"]?.string == "enc")
        #expect(root["alg"]?.string == recipient.algorithm.rawValue)
        #expect(root["kid"]?.string == key.keyID)
        #expect(root["d"] == nil)
        let again = try JWERecipient(publicJWK: SecretBytes(copying: json))
        #expect(again.keyID == key.keyID)
        #expect(again.algorithm == recipient.algorithm)
        #expect(try again.publicJSON() == json)
        #expect(try key.open(text: again.seal(text: "{}")) == "{}")
    }

    @Test func `a recipient needs neither a kid nor a use, and other members do not matter`() throws {
        for recipient in SampleRecipient.some {
            let text = try SpoiltRecipient.text(
                of: recipient, ["kid": nil, "use": nil, "x5t": #""AAAA""#, "key_ops": #"["deriveBits"]"#])
            let nameless = try JWERecipient(publicJWK: text)
            #expect(nameless.keyID == nil)
            let token = try CompactJWE(text: nameless.seal(text: "{}"))
            #expect(token.header["kid"] == nil)
            #expect(try token.open(withAnyOf: [recipient.key]).plaintext == Array("{}".utf8))
        }
    }

    @Test(arguments: SpoiltRecipient.all)
    func `a spoiled recipient is refused`(_ spoilt: SpoiltRecipient) throws {
        expectRefusal(spoilt.code) { try JWERecipient(publicJWK: spoilt.text) }
    }

    @Test func `members of a recipient without a value are absent`() throws {
        let recipient = try JWEDecryptionKey.generate(.ecdhESA256KW).recipient
        let text = String(decoding: try recipient.publicJSON(), as: UTF8.self)
            .replacing(
                #""use":"enc""#, with: #""use":null,"kid":null,"d":null,"k":null,"oth":[],"key_ops":[],"x5c":[]"#)
        let read = try JWERecipient(publicJWK: SecretBytes(text: "\u{FEFF}" + text))
        #expect(read.keyID == nil)
        #expect(try read.publicJSON() == recipient.publicJSON())
    }

    @Test(arguments: ["", "null", "[]", "{", "{}", #"{"keys":[]}"#, #"{"kty":7}"#])
    func `a string that is no JWK is refused`(_ text: String) {
        expectRefusal(.invalidKey) { try JWERecipient(publicJWK: SecretBytes(text: text)) }
        #expect(throws: JOSEError.self) { try JWEDecryptionKey(privateJWK: SecretBytes(text: text)) }
    }

    @Test(arguments: try EncryptionVector.offered())
    func `a private JWK opens, and is refused for a recipient`(_ vector: EncryptionVector) throws {
        let members = try #require(vector.key)
        let text = SecretBytes(copying: try JSONEncoder().encode(members))
        let key = try JWEDecryptionKey(privateJWK: text)
        #expect(try key.open(text: key.recipient.seal(text: "{}")) == "{}")
        let error = #expect(throws: JOSEError.self) { try JWERecipient(publicJWK: text) }
        #expect(error?.code == .invalidKey)
        #expect(error?.message.contains("public members alone") == true)
        let publicMembers = members.filter { !["d", "p", "q", "dp", "dq", "qi"].contains($0.key) }
        let publicText = SecretBytes(copying: try JSONEncoder().encode(publicMembers))
        #expect(try key.open(text: JWERecipient(publicJWK: publicText).seal(text: "{}")) == "{}")
        expectRefusal(.privateKeyRequired) { try JWEDecryptionKey(privateJWK: publicText) }
    }

    @Test(arguments: try EncryptionVector.offered())
    func `a private JWK whose halves belong to two keys is refused`(_ vector: EncryptionVector) throws {
        var members = try #require(vector.key)
        members["d"] = "AQAB"
        expectRefusal(.invalidKey) {
            try JWEDecryptionKey(privateJWK: SecretBytes(copying: JSONEncoder().encode(members)))
        }
        // Without the factors there is nothing to compare but what the key opens.
        for name in ["p", "q", "dp", "dq", "qi"] { members[name] = nil }
        expectRefusal(.invalidKey) {
            try JWEDecryptionKey(privateJWK: SecretBytes(copying: JSONEncoder().encode(members)))
        }
    }

    @Test func `an RSA key that is too short is not generated`() {
        expectRefusal(.weakKey) { try JWEDecryptionKey.generate(.rsaOAEP256, rsaBits: 2047) }
    }
}
