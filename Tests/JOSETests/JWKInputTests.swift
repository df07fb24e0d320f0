import Foundation
import JOSE
import Testing

@testable import Formats

@Suite("JSON Web Keys on their way in")
struct JWKInputTests {
    private func algorithm(of origin: String) throws -> Algorithm {
        try #require(try Vector.all().first { $0.origin == origin }).requiredAlgorithm
    }

    @Test(arguments: SpoiltJWK.all)
    func `refuses a spoilt JWK`(_ jwk: SpoiltJWK) throws {
        let algorithm = try algorithm(of: jwk.origin)
        expectRefusal(jwk.code) { try JWK.signingKey(from: jwk.text(), algorithm: algorithm) }
        guard jwk.spoilsPublicKey else { return }
        expectRefusal(jwk.code) { try JWK.verificationKey(from: jwk.text(publicOnly: true), algorithm: algorithm) }
    }

    @Test(arguments: [
        "", "null", "[]", "7", #""key""#, "{", "{}", #"{"kty":7}"#, #"{"kty":"oct"}"#, #"{"kty":"oct","k":7}"#,
        #"{"kty":"oct","k":"a="}"#,
        #"{"kty":"oct","k":""}"#, #"{"kty":"oct","k":"AAAA","k":"BBBB"}"#, #"{"kty":"oct","k":"AAAA","\u006b":"BBBB"}"#,
        #"{"keys":[{"kty":"oct","k":"AAAA"}]}"#,
        "{\"kty\":\"oct\",\"k\":\"AAAA\",\"x\":\(String(repeating: "[", count: 10_000))}",
    ])
    func `refuses a text that is no JWK`(_ text: String) {
        for algorithm in [Algorithm.hs256, .rs256, .es256, .eddsa] {
            expectRefusal(.invalidKey) { try JWK.signingKey(from: SecretBytes(text: text), algorithm: algorithm) }
            expectRefusal(.invalidKey) { try JWK.verificationKey(from: SecretBytes(text: text), algorithm: algorithm) }
        }
    }

    @Test func `reads a shared secret`() throws {
        let text = SecretBytes(text: #"{"kty":"oct","kid":"a","alg":"HS384","k":"-_-_"}"#)
        let key = try JWK.signingKey(from: text)
        #expect(key.algorithm == .hs384)
        #expect(key.keyID == "a")
        #expect(key.secret?.array == [0xFB, 0xFF, 0xBF])
        let verifier = try JWK.verificationKey(from: text, keyID: "b")
        #expect(verifier.keyID == "b")
        #expect(verifier.hasSameMaterial(as: key.verificationKey))
        expectRefusal(.invalidKey) { try JWK.signingKey(from: text, algorithm: .hs256) }
    }

    @Test func `the algorithm is the JWK's own or the one that is asked for, never two`() throws {
        let nameless = SecretBytes(text: #"{"kty":"oct","k":"AAAA"}"#)
        expectRefusal(.invalidKey) { try JWK.signingKey(from: nameless) }
        #expect(try JWK.signingKey(from: nameless, algorithm: .hs512).algorithm == .hs512)
        for name in ["none", "HS1", "hs256", "ES256K", "RSA-OAEP", ""] {
            let text = SecretBytes(text: #"{"kty":"oct","k":"AAAA","alg":"\#(name)"}"#)
            expectRefusal(.unsupportedAlgorithm, "\(name)") { try JWK.signingKey(from: text) }
            expectRefusal(.invalidKey, "\(name)") { try JWK.signingKey(from: text, algorithm: .hs256) }
        }
    }

    @Test(arguments: try Vector.all())
    func `refuses a key for every algorithm that needs another kind`(_ vector: Vector) throws {
        var key = vector.key
        key["alg"] = nil
        let text = SecretBytes(copying: try JSONEncoder().encode(key))
        let own = try vector.requiredAlgorithm
        for other in Algorithm.allCases where other.keyType != own.keyType {
            expectRefusal(.invalidKey, "\(other.rawValue)") { try JWK.verificationKey(from: text, algorithm: other) }
            guard vector.key["d"] != nil || vector.key["k"] != nil else { continue }
            expectRefusal(.invalidKey, "\(other.rawValue)") { try JWK.signingKey(from: text, algorithm: other) }
        }
    }

    @Test(arguments: try Vector.all().filter { $0.key["d"] != nil })
    func `a private JWK is the key that its PEM is`(_ vector: Vector) throws {
        let key = try vector.signingKey
        let again = try SigningKey(pem: try #require(try key.privateKeyPEM()), algorithm: key.algorithm)
        #expect(again.verificationKey.hasSameMaterial(as: key.verificationKey))
        try CompactJWS(text: SampleToken.make(again)).verify(with: vector.verificationKey)
    }

    @Test func `an RSA key without its factors signs all the same`() throws {
        let vector = try #require(try Vector.all().first { $0.origin == "RFC 7520, section 3.4" })
        let members = vector.key.filter { ["kty", "n", "e", "d"].contains($0.key) }
        let key = try JWK.signingKey(from: SecretBytes(copying: JSONEncoder().encode(members)), algorithm: .rs256)
        try CompactJWS(text: SampleToken.make(key)).verify(with: vector.verificationKey)
    }
}
