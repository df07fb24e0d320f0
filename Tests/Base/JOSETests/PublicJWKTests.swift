import JOSE
import Testing

@testable import Formats

/// A JWK of somebody else's that is not taken as a public key.
struct UnwelcomeJWK: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// The additions to the public key's members, as JSON; nil removes one.
    let changes: [String: String?]
    var code = JOSEError.Code.invalidKey

    private static func text(_ count: Int) -> String {
        "\"" + Base64.url.encode([UInt8](repeating: 0xFF, count: count)) + "\""
    }

    static let all =
        ["d", "p", "q", "dp", "dq", "qi", "oth", "k"].map {
            UnwelcomeJWK(testDescription: "the private member \($0)", changes: [$0: "\"AQ\""])
        } + [
            UnwelcomeJWK(testDescription: "no type", changes: ["kty": nil]),
            UnwelcomeJWK(testDescription: "a shared secret", changes: ["kty": #""oct""#]),
            UnwelcomeJWK(testDescription: "a number for n", changes: ["n": "7"]),
            UnwelcomeJWK(testDescription: "1024 bits", changes: ["n": text(128)], code: .weakKey),
            UnwelcomeJWK(testDescription: "8200 bits", changes: ["n": text(1025)]),
            UnwelcomeJWK(testDescription: "an exponent of 72 bits", changes: ["e": text(9)]),
            UnwelcomeJWK(testDescription: "an exponent of one", changes: ["e": #""AQ""#]),
            UnwelcomeJWK(testDescription: "HMAC", changes: ["alg": #""HS256""#], code: .unsupportedAlgorithm),
            UnwelcomeJWK(testDescription: "one not wanted", changes: ["alg": #""RS512""#], code: .unsupportedAlgorithm),
        ]
}

@Suite("Public JWKs from elsewhere")
struct PublicJWKTests {
    /// A public key as a JSON value, with changes.
    private func jwk(_ key: SigningKey, _ changes: [String: String?] = [:]) throws -> JSONValue {
        let text = try #require(try JWK.publicJSON(of: key.verificationKey))
        var members: [String: String] = [:]
        for (name, value) in try JSONDocument(parsing: text).root.members {
            members[name] = String(decoding: value.json, as: UTF8.self)
        }
        for (name, value) in changes { members[name] = value }
        let json = "{" + members.map { "\"\($0)\":\($1)" }.joined(separator: ",") + "}"
        return try JSONDocument(parsing: Array(json.utf8)).root
    }

    @Test(arguments: Algorithm.allCases.filter { $0.keyType != .secret })
    func `a key without an algorithm serves those of its type that are wanted, and no others`(
        _ algorithm: Algorithm
    ) throws {
        let key = try SampleKeys.make(algorithm, keyID: "a")
        let keys = try JWK.publicKeys(from: jwk(key, ["alg": nil]), for: Set(Algorithm.allCases))
        #expect(keys.map(\.algorithm) == Algorithm.allCases.filter { $0.keyType == algorithm.keyType })
        #expect(keys.allSatisfy { $0.keyID == "a" && $0.hasSameMaterial(as: key.verificationKey) })
        let own = try JWK.publicKeys(from: jwk(key), for: Set(Algorithm.allCases))
        #expect(own.map(\.algorithm) == [algorithm])
        expectRefusal(.unsupportedAlgorithm) {
            try JWK.publicKeys(from: jwk(key), for: Set(Algorithm.allCases).subtracting([algorithm]))
        }
    }

    @Test(
        arguments: [
            "alg", "d", "p", "q", "dp", "dq", "qi", "oth", "k", "use", "key_ops", "kid", "x5c", "x5t", "x5u",
            "x5t#S256",
        ], ["null", "[]"])
    func `a member without a value is absent`(name: String, value: String) throws {
        let key = try SampleKeys.make(.rs256)
        let keys = try JWK.publicKeys(from: jwk(key, [name: value]), for: [.rs256])
        #expect(keys.count == 1)
        #expect(keys.allSatisfy { $0.hasSameMaterial(as: key.verificationKey) })
    }

    @Test func `a public key of either name of EdDSA is for EdDSA`() throws {
        let key = try SampleKeys.make(.eddsa)
        for name in ["EdDSA", "Ed25519"] {
            let keys = try JWK.publicKeys(from: jwk(key, ["alg": "\"\(name)\""]), for: [.eddsa, .es256])
            #expect(keys.map(\.algorithm) == [.eddsa], "\(name)")
        }
        for name in ["Ed448", "ed25519", "ESP256"] {
            expectRefusal(.unsupportedAlgorithm, "\(name)") {
                try JWK.publicKeys(from: jwk(key, ["alg": "\"\(name)\""]), for: Set(Algorithm.allCases))
            }
        }
    }

    @Test(arguments: UnwelcomeJWK.all)
    func `a JWK that is no modest public key is refused`(_ unwelcome: UnwelcomeJWK) throws {
        let value = try jwk(SampleKeys.make(.rs256), unwelcome.changes)
        expectRefusal(unwelcome.code) { try JWK.publicKeys(from: value, for: [.rs256, .ps256, .es256]) }
    }

    @Test(arguments: ["[]", "7", "null", #""text""#, "{}"]) func `a JSON value that is no JWK is refused`(text: String)
        throws
    {
        let value = try JSONDocument(parsing: Array(text.utf8)).root
        expectRefusal(.invalidKey) { try JWK.publicKeys(from: value, for: Set(Algorithm.allCases)) }
    }

    @Test func `digests are equal byte for byte`() {
        let digest = SHA256.hash(Array("remint".utf8))
        #expect(SHA256.equals(digest, Array(digest)))
        for index in digest.indices {
            var other = digest
            other[index] ^= 1
            #expect(!SHA256.equals(digest, other))
        }
        #expect(!SHA256.equals(digest, Array(digest.dropLast())))
        #expect(SHA256.equals([], []))
    }
}
