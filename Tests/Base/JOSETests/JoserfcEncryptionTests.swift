import Testing

@_spi(Decryption) @testable import JOSE

@Suite(
    "Encrypted tokens, and what joserfc makes of them",
    .enabled(if: JoserfcEncryption.isInstalled, "\(JoserfcEncryption.isMissing)"), .timeLimit(.minutes(5)))
struct JoserfcEncryptionTests {
    private static let sizes = [
        ("ECDH-ES+A256KW", "P-256"), ("ECDH-ES+A256KW", "P-384"), ("ECDH-ES+A256KW", "P-521"),
        ("RSA-OAEP-256", "2048"), ("RSA-OAEP-256", "3072"),
    ]

    @Test(arguments: sizes)
    func `a token sealed here or by joserfc is opened by the other`(_ algorithm: String, _ size: String) async throws {
        let text = #"{"sub":"Frodo – u-42"}"#
        let theirs = try await JoserfcEncryption.seal(
            text, algorithm, size: size, header: #"{"kid":"theirs","cty":"JWT"}"#)
        let key = try JWEDecryptionKey(privateJWK: SecretBytes(text: theirs.privateJWK))
        #expect(key.keyID == "theirs")
        #expect(try key.open(text: theirs.token) == text)
        let recipient = try JWERecipient(publicJWK: SecretBytes(text: theirs.publicJWK))
        let ours = try recipient.seal(Array(text.utf8), contentType: "JWT", type: "JWT")
        #expect(try await JoserfcEncryption.open(ours, algorithm, privateJWK: theirs.privateJWK) == Array(text.utf8))
        var spoilt = ours
        spoilt[spoilt.count - 5] ^= 1
        #expect(try await JoserfcEncryption.open(spoilt, algorithm, privateJWK: theirs.privateJWK) == nil)
    }

    @Test func `the parties that joserfc names are mixed into the key`() async throws {
        let theirs = try await JoserfcEncryption.seal(
            "{}", "ECDH-ES+A256KW", size: "P-256", header: #"{"apu":"QWxpY2U","apv":"Qm9i"}"#)
        let token = try CompactJWE(text: theirs.token)
        #expect(token.header["apu"]?.string == "QWxpY2U")
        let key = try JWEDecryptionKey(privateJWK: SecretBytes(text: theirs.privateJWK))
        #expect(try token.open(with: key) == Array("{}".utf8))
    }
}
