import AsyncTestSupport
import Foundation
import JOSE
import Testing

@testable import Formats

/// A key that no algorithm here takes, by the `genpkey` options that make it.
struct ForeignKey: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let options: [String]

    static let all = [
        ForeignKey(
            testDescription: "RSA-PSS", options: ["-algorithm", "RSA-PSS", "-pkeyopt", "rsa_keygen_bits:2048"]),
        ForeignKey(
            testDescription: "secp256k1", options: ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:secp256k1"]),
        ForeignKey(
            testDescription: "brainpoolP256r1",
            options: ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:brainpoolP256r1"]),
        ForeignKey(testDescription: "Ed448", options: ["-algorithm", "ED448"]),
        ForeignKey(testDescription: "X25519", options: ["-algorithm", "X25519"]),
    ]
}

/// A string that is no key at all.
struct Garbage: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let bytes: [UInt8]

    private init(_ name: String, _ text: String) {
        testDescription = name
        bytes = Array(text.utf8)
    }

    private init(_ name: String, bytes: [UInt8]) {
        testDescription = name
        self.bytes = bytes
    }

    private static func pem(_ body: String) -> String {
        "-----BEGIN PRIVATE KEY-----\n\(body)\n-----END PRIVATE KEY-----\n"
    }
    private static var random: [UInt8] {
        var generator = SeededGenerator(seed: 1)
        return (0..<4096).map { _ in .random(in: .min ... .max, using: &generator) }
    }

    static let all = [
        Garbage("nothing", ""), Garbage("white space", " \n\n"), Garbage("a sentence", "not a key"),
        Garbage("NUL", "\0"), Garbage("an empty block", pem("")), Garbage("a block of text", pem("bm90IGEga2V5")),
        Garbage("a block that is not base64", pem("!!!!")), Garbage("dashes", String(repeating: "-", count: 10_000)),
        Garbage("a first line alone", "-----BEGIN PRIVATE KEY-----\n"),
        Garbage("a JWK", #"{"kty":"oct","k":"AAAA"}"#), Garbage("random bytes", bytes: random),
        Garbage("a huge length", pem("MIT/////////")),
        Garbage("an SSH key", "-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n-----END OPENSSH PRIVATE KEY-----\n"),
    ]
}

@Suite("Keys that are refused")
struct KeyRefusalTests {
    static let asymmetric = Algorithm.allCases.filter { $0.keyType != .secret }

    @Test(arguments: asymmetric)
    func `a key is refused for every algorithm that needs another kind`(_ algorithm: Algorithm) throws {
        let key = try SampleKeys.make(algorithm)
        let pem = try #require(try key.privateKeyPEM())
        let publicPEM = try #require(try key.verificationKey.publicKeyPEM())
        for other in Algorithm.allCases where other.keyType != algorithm.keyType {
            expectRefusal(.invalidKey, "\(other.rawValue)") { try SigningKey(pem: pem, algorithm: other) }
            expectRefusal(.invalidKey, "\(other.rawValue)") {
                try VerificationKey(publicKeyPEM: publicPEM, algorithm: other)
            }
        }
    }

    @Test(.timeLimit(.minutes(5)), arguments: ForeignKey.all)
    func `a key of a foreign kind is refused for every algorithm`(_ foreign: ForeignKey) async throws {
        let folder = try CommandFolder()
        try await folder.openssl(["genpkey"] + foreign.options + ["-out", "key.pem"])
        try await folder.openssl(["pkey", "-in", "key.pem", "-pubout", "-out", "public.pem"])
        let pem = SecretBytes(copying: try folder.read("key.pem"))
        let publicPEM = try folder.readText("public.pem")
        for algorithm in Algorithm.allCases {
            expectRefusal(.invalidKey) { try SigningKey(pem: pem, algorithm: algorithm) }
            expectRefusal(.invalidKey) { try VerificationKey(publicKeyPEM: publicPEM, algorithm: algorithm) }
        }
    }

    @Test(arguments: Garbage.all)
    func `garbage is no key`(_ garbage: Garbage) {
        for algorithm in Algorithm.allCases {
            expectRefusal(.invalidKey) {
                try SigningKey(pem: SecretBytes(copying: garbage.bytes), algorithm: algorithm)
            }
            expectRefusal(.invalidKey) {
                try VerificationKey(
                    publicKeyPEM: String(decoding: garbage.bytes, as: UTF8.self), algorithm: algorithm)
            }
        }
    }

    @Test(arguments: asymmetric)
    func `a key cut short anywhere is no key`(_ algorithm: Algorithm) throws {
        let pem = try #require(try SampleKeys.make(algorithm).privateKeyPEM()).array
        // The last line's end may go missing; anything more may not.
        for count in stride(from: 0, to: pem.count - 1, by: pem.count / 40 + 1) {
            expectRefusal(.invalidKey) {
                try SigningKey(pem: SecretBytes(copying: pem[..<count]), algorithm: algorithm)
            }
        }
    }

    @Test(arguments: Algorithm.allCases)
    func `a shared secret serves HMAC alone, and only where it has a byte`(_ algorithm: Algorithm) throws {
        let secret = SecretBytes(text: "secret")
        if algorithm.keyType == .secret {
            #expect(try SigningKey(secret: secret, algorithm: algorithm).isShorterThanDigest)
            #expect(try !SigningKey.generate(algorithm).isShorterThanDigest)
        } else {
            expectRefusal(.invalidKey) { try SigningKey(secret: secret, algorithm: algorithm) }
            #expect(try !SampleKeys.make(algorithm).isShorterThanDigest)
            #expect(try SampleKeys.make(algorithm).secret == nil)
        }
        expectRefusal(.invalidKey) { try SigningKey(secret: SecretBytes(text: ""), algorithm: algorithm) }
        expectRefusal(.invalidKey) { try VerificationKey(secret: SecretBytes(text: ""), algorithm: algorithm) }
    }

    @Test func `a shared secret has no PEM of any kind`() throws {
        let key = try SigningKey.generate(.hs256)
        #expect(try key.privateKeyPEM() == nil)
        #expect(try key.verificationKey.publicKeyPEM() == nil)
        #expect(key.verificationKey.secret?.count == 32)
    }

    @Test func `keys of one material are the same key under any name`() throws {
        let key = try SigningKey.generate(.es256, keyID: "a").verificationKey
        #expect(key.named("b").hasSameMaterial(as: key))
        #expect(key.named("b").keyID == "b")
        #expect(key.named(nil).keyID == nil)
        #expect(try !SigningKey.generate(.es256).verificationKey.hasSameMaterial(as: key))
        let secret = try SigningKey.generate(.hs256).verificationKey
        #expect(secret.hasSameMaterial(as: secret))
        #expect(!secret.hasSameMaterial(as: key))
        #expect(try !SigningKey.generate(.hs256).verificationKey.hasSameMaterial(as: secret))
    }
}
