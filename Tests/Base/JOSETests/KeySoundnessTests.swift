import Foundation
import JOSE
import Testing

@testable import Formats

/// Keys that can be parsed and must not be trusted.
@Suite("Keys that are not sound")
struct KeySoundnessTests {
    private func rsaJWK(_ members: (String) -> String) throws -> SecretBytes {
        let json = try #require(try JWK.publicJSON(of: SampleKeys.make(.rs256).verificationKey))
        let modulus = try #require(try JSONDocument(parsing: json).root["n"]?.string)
        return SecretBytes(text: #"{"kty":"RSA","n":"\#(modulus)",\#(members(modulus))}"#)
    }

    /// The PKCS#8 of `key`, with the public point of `other`: the last 64 bytes of both.
    private func pem(of key: SigningKey, withPointOf other: SigningKey) throws -> SecretBytes {
        let ders = try [key, other].map { key in
            let text = try #require(try key.privateKeyPEM()).text
            let body = text.split(separator: "\n").filter { !$0.hasPrefix("-") }.joined()
            return try Base64.standard.decode(text: body)
        }
        let body = Base64.standard.encode(Array(ders[0].dropLast(64) + ders[1].suffix(64)))
        return SecretBytes(text: "-----BEGIN PRIVATE KEY-----\n\(body)\n-----END PRIVATE KEY-----\n")
    }

    /// With an exponent of one, the padded digest is its own signature: anybody can make it.
    @Test(arguments: ["AQ", "Ag", "AA"])
    func `an RSA key whose exponent is one, even or zero is refused`(exponent: String) throws {
        expectRefusal(.invalidKey) {
            try JWK.verificationKey(from: rsaJWK { _ in #""e":"\#(exponent)""# }, algorithm: .rs256)
        }
    }

    @Test
    func `an RSA JWK with another key's d is refused without factors, too`() throws {
        let other = Base64.url.encode([UInt8](repeating: 0x11, count: 255))
        expectRefusal(.invalidKey) {
            try JWK.signingKey(from: rsaJWK { _ in #""e":"AQAB","d":"\#(other)""# }, algorithm: .rs256)
        }
    }

    @Test
    func `a PEM key whose public point belongs to another key is refused`() throws {
        let pem = try pem(of: .generate(.es256), withPointOf: .generate(.es256))
        expectRefusal(.invalidKey) { try SigningKey(pem: pem, algorithm: .es256) }
    }

    @Test
    func `a public key with Windows line ends and a remark is recognized, and refused as no private key`() throws {
        let pem = try #require(try SampleKeys.make(.es256).verificationKey.publicKeyPEM())
        let edited = "The key of staging.\r\n" + pem.replacing("\n", with: "\r\n")
        expectRefusal(.privateKeyRequired) { try SigningKey(pem: SecretBytes(text: edited), algorithm: .es256) }
    }

    @Test
    func `a kid is compared code point by code point`() throws {
        // U+212A, the sign of the kelvin, is canonically equivalent to K.
        let key = try SigningKey.generate(.es256, keyID: "\u{212A}")
        let token = try CompactJWS(text: SampleToken.make(key, header: #"{"alg":"ES256","kid":"K"}"#))
        expectRefusal(.noMatchingKey) { try token.verify(withAnyOf: [key.verificationKey]) }
    }
}
