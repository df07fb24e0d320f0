import Foundation
import JOSE
import Testing

@testable import Formats

/// Keys of the openssl command in the forms that KeyFormTests leaves out.
@Suite("Keys made by the openssl command", .timeLimit(.minutes(5)))
struct OpenSSLKeyTests {
    @Test(arguments: KeyForm.encrypted)
    func `an encrypted private key is opened with its passphrase and no other`(_ form: KeyForm) async throws {
        let pem = SecretBytes(copying: try await form.make())
        let right = SecretBytes(text: KeyForm.passphrase)
        let key = try SigningKey(pem: pem, passphrase: right, algorithm: form.algorithm)
        try CompactJWS(text: SampleToken.make(key)).verify(with: key.verificationKey)
        expectRefusal(.passphraseRequired) { try SigningKey(pem: pem, algorithm: form.algorithm) }
        let long = String(repeating: "x", count: 5000)
        for wrong in ["pass-phrasf", "pass-phras", "pass-phrase\n", "", "w\0r\0", long] {
            expectRefusal(.wrongPassphrase, "\(wrong.count) characters") {
                try SigningKey(pem: pem, passphrase: SecretBytes(text: wrong), algorithm: form.algorithm)
            }
        }
    }

    @Test func `a PKCS#1 public key is no private key`() async throws {
        let folder = try CommandFolder()
        try folder.write(try #require(try SampleKeys.make(.rs256).privateKeyPEM()).array, to: "key.pem")
        try await folder.openssl(["rsa", "-in", "key.pem", "-RSAPublicKey_out", "-out", "public.pem"])
        let text = try folder.readText("public.pem")
        expectRefusal(.privateKeyRequired) { try SigningKey(pem: SecretBytes(text: text), algorithm: .rs256) }
    }

    @Test(arguments: [Algorithm.rs256, .rs512, .ps256, .ps384])
    func `an RSA key of 1024 bits is weak`(_ algorithm: Algorithm) async throws {
        let folder = try CommandFolder()
        try await folder.openssl(["genrsa", "-out", "key.pem", "1024"])
        try await folder.openssl(["pkey", "-in", "key.pem", "-pubout", "-out", "public.pem"])
        expectRefusal(.weakKey) {
            try SigningKey(pem: SecretBytes(copying: folder.read("key.pem")), algorithm: algorithm)
        }
        expectRefusal(.weakKey) {
            try VerificationKey(publicKeyPEM: folder.readText("public.pem"), algorithm: algorithm)
        }
    }

    @Test(arguments: [0, 1024, 2047, 16385, -1])
    func `an RSA key of a length outside 2048 to 16384 is not generated`(bits: Int) {
        expectRefusal(.weakKey) { try SigningKey.generate(.rs256, rsaBits: bits) }
    }
}
