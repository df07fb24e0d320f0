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
    func `a spoiled JWK is refused`(_ jwk: SpoiltJWK) throws {
        let algorithm = try algorithm(of: jwk.origin)
        expectRefusal(jwk.code) { try JWK.signingKey(from: jwk.text(), algorithm: algorithm) }
        guard jwk.spoilsPublicKey else { return }
        expectRefusal(jwk.code) { try JWK.verificationKey(from: jwk.text(publicOnly: true), algorithm: algorithm) }
    }

    @Test(arguments: [
        "", "null", "[]", "7", #""key""#, "{", "{}", #"{"kty":7}"#, #"{"kty":"oct"}"#, #"{"kty":"oct","k":7}"#,
        #"{"kty":"oct","k":"a="}"#,
        #"{"kty":"oct","k":""}"#, #"{"kty":"oct","k":"AAAA","k":"BBBB"}"#, #"{"kty":"oct","k":"AAAA","\u006b":"BBBB"}"#,
        #"{"keys":7}"#,
        #"{"keys":[{"kty":"oct","k":"AAAA"},{"kty":"oct","k":"BBBB"}]}"#,
        "{\"kty\":\"oct\",\"k\":\"AAAA\",\"x\":\(String(repeating: "[", count: 10_000))}",
    ])
    func `a string that is no JWK is refused`(_ text: String) {
        for algorithm in [Algorithm.hs256, .rs256, .es256, .eddsa] {
            expectRefusal(.invalidKey) { try JWK.signingKey(from: SecretBytes(text: text), algorithm: algorithm) }
            expectRefusal(.invalidKey) { try JWK.verificationKey(from: SecretBytes(text: text), algorithm: algorithm) }
        }
    }

    @Test func `a JWK of a shared secret is read`() throws {
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

    @Test(arguments: [
        (#""use":"enc""#, "\"use\": \"sig\""), (#""use":"SIG""#, "\"use\": \"sig\""), (#""use":7"#, "\"use\": \"sig\""),
        (#""key_ops":["verify"]"#, "\"key_ops\": [\"sign\"]"),
        (#""key_ops":["encrypt","decrypt"]"#, "\"key_ops\": [\"sign\"]"),
        (#""key_ops":"sign""#, "\"key_ops\": [\"sign\"]"),
        (#""use":"sig","key_ops":["verify"]"#, "\"key_ops\": [\"sign\"]"),
        (#""use":"enc","key_ops":["sign"]"#, "\"use\": \"sig\""), (#""use":"sig""#, nil), (#""key_ops":["sign"]"#, nil),
        (#""key_ops":["verify","sign"],"use":"sig""#, nil), (#""use":null,"key_ops":[]"#, nil), (#""x":1"#, nil),
    ])
    func `a JWK that is not for signatures signs nothing`(_ members: String, _ remedy: String?) throws {
        let text = #"{"kty":"oct","kid":"a","alg":"HS256","k":"-_-_",\#(members)}"#
        for text in [text, #"{"keys":[\#(text)]}"#].map(SecretBytes.init(text:)) {
            guard let remedy else {
                #expect(try JWK.signingKey(from: text).keyID == "a")
                continue
            }
            let error = #expect(throws: JOSEError.self) { try JWK.signingKey(from: text, algorithm: .hs256) }
            #expect(error?.code == .invalidKey)
            #expect(error?.message.contains(remedy) == true, "\(String(describing: error))")
        }
    }

    @Test(arguments: try Vector.all())
    func `a key is refused for every algorithm that needs another kind`(_ vector: Vector) throws {
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

    @Test func `an RSA key of n, e and d alone gets its factors back`() throws {
        let vector = try #require(try Vector.all().first { $0.origin == "RFC 7520, section 3.4" })
        let members = vector.key.filter { ["kty", "n", "e", "d"].contains($0.key) }
        let text = SecretBytes(copying: try JSONEncoder().encode(members))
        let key = try JWK.signingKey(from: text, algorithm: .rs256)
        try CompactJWS(text: SampleToken.make(key)).verify(with: vector.verificationKey)
        // The file of a ring is PKCS#8, which needs the factors: byte for byte those of the whole key.
        let whole = try #require(try vector.signingKey.privateKeyPEM())
        #expect(try key.privateKeyPEM()?.equals(whole) == true)
    }

    @Test(arguments: ["n", "e", "d"])
    func `an RSA key whose n, e and d are not one key is refused`(name: String) throws {
        let vector = try #require(try Vector.all().first { $0.origin == "RFC 7520, section 3.4" })
        var members = vector.key.filter { ["kty", "n", "e", "d"].contains($0.key) }
        var bytes = try Base64.url.decode(text: try #require(members[name]))
        // Still odd, and still as long.
        bytes[bytes.count - 1] ^= 2
        members[name] = Base64.url.encode(bytes)
        let text = SecretBytes(copying: try JSONEncoder().encode(members))
        expectRefusal(.invalidKey) { try JWK.signingKey(from: text, algorithm: .rs256) }
    }

    @Test func `a set with one private key is that key`() throws {
        let key = try SampleKeys.make(.es256)
        let publicJWK = String(decoding: try #require(try JWK.publicJSON(of: key.verificationKey)), as: UTF8.self)
        let secret = #"{"kty":"oct","k":"AAAA","alg":"HS256","kid":"s"}"#
        let read = try JWK.signingKey(from: SecretBytes(text: #"{"keys":[\#(publicJWK),\#(secret)]}"#))
        #expect(read.keyID == "s")
        #expect(read.secret?.array == [0, 0, 0])
        expectRefusal(.privateKeyRequired) { try JWK.signingKey(from: SecretBytes(text: #"{"keys":[\#(publicJWK)]}"#)) }
        expectRefusal(.invalidKey) { try JWK.signingKey(from: SecretBytes(text: #"{"keys":[\#(secret),\#(secret)]}"#)) }
    }

    @Test func `a private number that is not as wide as RFC 7518 requires is refused with the reason`() throws {
        let p256 = try #require(try Vector.all().first { $0.origin == "RFC 7515, appendix A.3" })
        let rsa = try #require(try Vector.all().first { $0.origin == "RFC 7520, section 3.4" })
        for (vector, algorithm, words) in [
            (p256, Algorithm.es256, "has 33 bytes"), (rsa, .rs256, "begins with a zero byte"),
        ] {
            var members = vector.key
            members["alg"] = nil
            let d = try #require(members["d"])
            members["d"] = Base64.url.encode([0] + (try Base64.url.decode(text: d)))
            let zero = SecretBytes(copying: try JSONEncoder().encode(members))
            let error = #expect(throws: JOSEError.self) { try JWK.signingKey(from: zero, algorithm: algorithm) }
            #expect(error?.message.contains(words) == true, "\(String(describing: error))")
            members["d"] = d + "="
            let padded = SecretBytes(copying: try JSONEncoder().encode(members))
            let other = #expect(throws: JOSEError.self) { try JWK.signingKey(from: padded, algorithm: algorithm) }
            #expect(other?.message.contains("padded") == true, "\(String(describing: other))")
        }
    }
}
