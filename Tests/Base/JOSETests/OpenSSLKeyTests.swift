import Foundation
import JOSE
import Testing

@testable import Formats

/// A private key as some command leaves it in `key.pem`.
struct KeyFile: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let algorithm: Algorithm
    /// The commands, one after the other.
    let steps: [[String]]
    /// The first line of the file, to be sure that the command made what its name promises.
    let label: String

    static let passphrase = "correct horse"
    private static let rsa = ["genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out", "plain.pem"]
    private static func curve(_ name: String) -> [String] { ["ecparam", "-name", name, "-genkey", "-noout", "-out"] }

    static let plain = [
        KeyFile("RSA as PKCS#8", .rs256, [rsa, ["pkey", "-in", "plain.pem", "-out", "key.pem"]], "PRIVATE KEY"),
        KeyFile("RSA as PKCS#1", .ps256, [["genrsa", "-traditional", "-out", "key.pem", "2048"]], "RSA PRIVATE KEY"),
        KeyFile("P-256 as SEC1", .es256, [curve("prime256v1") + ["key.pem"]], "EC PRIVATE KEY"),
        KeyFile("P-384 as SEC1", .es384, [curve("secp384r1") + ["key.pem"]], "EC PRIVATE KEY"),
        KeyFile("P-521 as SEC1", .es512, [curve("secp521r1") + ["key.pem"]], "EC PRIVATE KEY"),
        KeyFile(
            "P-256 as SEC1 after its parameters", .es256,
            [["ecparam", "-name", "prime256v1", "-genkey", "-out", "key.pem"]], "EC PARAMETERS"),
        KeyFile(
            "P-256 as PKCS#8", .es256,
            [
                curve("prime256v1") + ["plain.pem"],
                ["pkcs8", "-topk8", "-nocrypt", "-in", "plain.pem", "-out", "key.pem"],
            ],
            "PRIVATE KEY"),
        KeyFile("Ed25519 as PKCS#8", .eddsa, [["genpkey", "-algorithm", "ED25519", "-out", "key.pem"]], "PRIVATE KEY"),
    ]

    static let encrypted = [
        KeyFile(
            "RSA as PKCS#8, encrypted", .rs256,
            [rsa, ["pkcs8", "-topk8", "-v2", "aes-256-cbc", "-in", "plain.pem", "-out", "key.pem"] + passOut],
            "ENCRYPTED PRIVATE KEY"),
        KeyFile(
            "RSA as PKCS#1, encrypted", .rs256,
            [["genrsa", "-traditional", "-aes256"] + passOut + ["-out", "key.pem", "2048"]], "RSA PRIVATE KEY"),
        KeyFile(
            "P-256 as SEC1, encrypted", .es256,
            [curve("prime256v1") + ["plain.pem"], ["ec", "-in", "plain.pem", "-aes256", "-out", "key.pem"] + passOut],
            "EC PRIVATE KEY"),
        KeyFile(
            "P-521 as PKCS#8, encrypted", .es512,
            [
                curve("secp521r1") + ["plain.pem"],
                ["pkcs8", "-topk8", "-in", "plain.pem", "-out", "key.pem"] + passOut,
            ],
            "ENCRYPTED PRIVATE KEY"),
        KeyFile(
            "Ed25519 as PKCS#8, encrypted", .eddsa,
            [["genpkey", "-algorithm", "ED25519", "-aes256", "-out", "key.pem", "-pass", passOut[1]]],
            "ENCRYPTED PRIVATE KEY"),
    ]

    private static let passOut = ["-passout", "pass:\(passphrase)"]

    private init(_ name: String, _ algorithm: Algorithm, _ steps: [[String]], _ label: String) {
        testDescription = name
        self.algorithm = algorithm
        self.steps = steps
        self.label = label
    }

    func make() async throws -> (text: String, publicKey: String) {
        let openssl = try OpenSSL()
        for step in steps { try await openssl.run(step) }
        let text = try openssl.readText("key.pem")
        #expect(text.hasPrefix("-----BEGIN \(label)-----"))
        try await openssl.run(
            ["pkey", "-in", "key.pem", "-passin", "pass:\(Self.passphrase)", "-pubout", "-out", "public.pem"])
        return (text, try openssl.readText("public.pem"))
    }
}

@Suite("Keys made by the openssl command", .timeLimit(.minutes(5)))
struct OpenSSLKeyTests {
    private func expectSigns(_ key: SigningKey, for publicKey: String) throws {
        let reference = try VerificationKey(publicKeyPEM: publicKey, algorithm: key.algorithm)
        #expect(try key.verificationKey.publicKeyPEM() == publicKey)
        #expect(key.verificationKey.hasSameMaterial(as: reference))
        try CompactJWS(text: SampleToken.make(key)).verify(with: reference)
    }

    @Test(arguments: KeyFile.plain)
    func `a plain private key signs for its public key`(_ file: KeyFile) async throws {
        let (text, publicKey) = try await file.make()
        try expectSigns(SigningKey(pem: SecretBytes(text: text), algorithm: file.algorithm), for: publicKey)
        // A passphrase that nobody asks for does no harm.
        let passphrase = SecretBytes(text: "unused")
        try expectSigns(
            SigningKey(pem: SecretBytes(text: text), passphrase: passphrase, algorithm: file.algorithm), for: publicKey)
    }

    @Test(arguments: KeyFile.plain)
    func `a private key is read from a file with Windows line ends and a remark before it`(_ file: KeyFile) async throws
    {
        let (text, publicKey) = try await file.make()
        let edited = "The key of staging.\r\n" + text.replacing("\n", with: "\r\n") + "\r\n"
        try expectSigns(SigningKey(pem: SecretBytes(text: edited), algorithm: file.algorithm), for: publicKey)
    }

    @Test(arguments: KeyFile.encrypted)
    func `an encrypted private key is opened with its passphrase and no other`(_ file: KeyFile) async throws {
        let (text, publicKey) = try await file.make()
        let pem = SecretBytes(text: text)
        let right = SecretBytes(text: KeyFile.passphrase)
        try expectSigns(SigningKey(pem: pem, passphrase: right, algorithm: file.algorithm), for: publicKey)
        expectRefusal(.passphraseRequired) { try SigningKey(pem: pem, algorithm: file.algorithm) }
        let long = String(repeating: "x", count: 5000)
        for wrong in ["correct horsf", "correct hors", "correct horse\n", "", "w\0r\0", long] {
            expectRefusal(.wrongPassphrase, "\(wrong.count) characters") {
                try SigningKey(pem: pem, passphrase: SecretBytes(text: wrong), algorithm: file.algorithm)
            }
        }
    }

    @Test(arguments: KeyFile.plain)
    func `a key that JOSE wrote reads back as the same key`(_ file: KeyFile) async throws {
        let (text, publicKey) = try await file.make()
        let key = try SigningKey(pem: SecretBytes(text: text), algorithm: file.algorithm)
        let written = try #require(try key.privateKeyPEM())
        #expect(written.text.hasPrefix("-----BEGIN PRIVATE KEY-----\n"))
        try expectSigns(SigningKey(pem: written, algorithm: file.algorithm), for: publicKey)
    }

    @Test(arguments: KeyFile.plain)
    func `a public key or a certificate is no private key`(_ file: KeyFile) async throws {
        let openssl = try OpenSSL()
        let (text, publicKey) = try await file.make()
        try openssl.write(text, to: "key.pem")
        try await openssl.run([
            "req", "-x509", "-new", "-key", "key.pem", "-subj", "/CN=test", "-out", "certificate.pem",
        ])
        for other in [publicKey, publicKey.replacing("\n", with: "\r\n"), try openssl.readText("certificate.pem")] {
            expectRefusal(.privateKeyRequired) {
                try SigningKey(pem: SecretBytes(text: other), algorithm: file.algorithm)
            }
        }
    }

    @Test func `a PKCS#1 public key is no private key`() async throws {
        let openssl = try OpenSSL()
        try openssl.write(try #require(try SampleKeys.make(.rs256).privateKeyPEM()).array, to: "key.pem")
        try await openssl.run(["rsa", "-in", "key.pem", "-RSAPublicKey_out", "-out", "public.pem"])
        let text = try openssl.readText("public.pem")
        expectRefusal(.privateKeyRequired) { try SigningKey(pem: SecretBytes(text: text), algorithm: .rs256) }
    }

    @Test(arguments: [Algorithm.rs256, .rs512, .ps256, .ps384])
    func `an RSA key of 1024 bits is weak`(_ algorithm: Algorithm) async throws {
        let openssl = try OpenSSL()
        try await openssl.run(["genrsa", "-out", "key.pem", "1024"])
        try await openssl.run(["pkey", "-in", "key.pem", "-pubout", "-out", "public.pem"])
        expectRefusal(.weakKey) {
            try SigningKey(pem: SecretBytes(copying: openssl.read("key.pem")), algorithm: algorithm)
        }
        expectRefusal(.weakKey) {
            try VerificationKey(publicKeyPEM: openssl.readText("public.pem"), algorithm: algorithm)
        }
    }

    @Test(arguments: [0, 1024, 2047, 16385, -1])
    func `an RSA key of a length outside 2048 to 16384 is not generated`(bits: Int) {
        expectRefusal(.weakKey) { try SigningKey.generate(.rs256, rsaBits: bits) }
    }
}
