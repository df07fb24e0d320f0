import JOSE
import Testing

@testable import Formats

/// The algorithm a token names and the one a key is for are two different things.
@Suite("The algorithm is the key's choice")
struct AlgorithmTests {
    static let spellingsOfNone: [String] = (0..<16).map { bits in
        "none".enumerated().map { bits >> $0.offset & 1 == 1 ? $0.element.uppercased() : String($0.element) }.joined()
    }

    @Test func `the name none is no algorithm in any capitalization`() {
        #expect(Set(Self.spellingsOfNone).count == 16)
        for spelling in Self.spellingsOfNone { #expect(Algorithm(rawValue: spelling) == nil) }
        #expect(Algorithm.allCases.count == 13)
    }

    @Test(arguments: Algorithm.allCases)
    func `a token with alg none in any capitalization is refused, with and without a signature`(_ algorithm: Algorithm)
        throws
    {
        let key = try SampleKeys.make(algorithm)
        let good = try SampleToken.make(key).parts
        for spelling in Self.spellingsOfNone + ["", " none", "none ", "n\u{F6}ne"] {
            let header = Base64.url.encode(text: #"{"alg":"\#(spelling)"}"#)
            let signed = try SampleToken.make(key, encodedHeader: header, payload: SampleToken.claims).parts
            for signature in ["", good[2], signed[2]] {
                let token = try CompactJWS(text: [header, good[1], signature].joined(separator: "."))
                expectRefusal(.algorithmMismatch, "\(spelling)") { try token.verify(with: key.verificationKey) }
                expectRefusal(.algorithmMismatch, "\(spelling)") { try token.verify(withAnyOf: [key.verificationKey]) }
            }
        }
    }

    @Test(arguments: Algorithm.allCases)
    func `an algorithm's name is accepted in its own spelling alone`(_ algorithm: Algorithm) throws {
        let key = try SampleKeys.make(algorithm)
        let name = algorithm.rawValue
        for other in [
            name.lowercased(), name + " ", " " + name, name + "\\u0000", name + "\u{0301}", "\u{200B}" + name,
        ] {
            let token = try CompactJWS(text: SampleToken.make(key, header: #"{"alg":"\#(other)"}"#))
            expectRefusal(.algorithmMismatch, "\(other)") { try token.verify(with: key.verificationKey) }
        }
        // An escape is another spelling of the text, not of the name.
        let escaped = name.utf8.map { "\\u00" + String($0, radix: 16) }.joined()
        try CompactJWS(text: SampleToken.make(key, header: #"{"alg":"\#(escaped)"}"#)).verify(with: key.verificationKey)
    }

    @Test(arguments: Algorithm.allCases)
    func `a key accepts no token of another algorithm, even with its own signature`(_ algorithm: Algorithm) throws {
        let key = try SampleKeys.make(algorithm)
        for other in Algorithm.allCases where other != algorithm {
            let renamed = try CompactJWS(text: SampleToken.make(key, header: #"{"alg":"\#(other.rawValue)"}"#))
            expectRefusal(.algorithmMismatch, "\(other.rawValue)") { try renamed.verify(with: key.verificationKey) }
        }
    }

    @Test(arguments: [Algorithm.rs256, .rs384, .rs512, .ps256, .ps384, .ps512])
    func `a signature of one RSA algorithm is none of another, though the key is the same`(_ algorithm: Algorithm)
        throws
    {
        let key = try SampleKeys.make(algorithm)
        for other in [Algorithm.rs256, .rs384, .rs512, .ps256, .ps384, .ps512] where other != algorithm {
            let verifier = try SampleKeys.make(other).verificationKey
            #expect(verifier.hasSameMaterial(as: key.verificationKey))
            // The header names the verifier's algorithm, so that only the signature can give it away.
            let token = try CompactJWS(text: SampleToken.make(key, header: #"{"alg":"\#(other.rawValue)"}"#))
            expectRefusal(.signatureInvalid, "\(other.rawValue)") { try token.verify(with: verifier) }
        }
    }

    @Test(arguments: Algorithm.allCases.filter { $0.keyType != .secret })
    func `a token signed with the public key as an HMAC secret is refused`(_ algorithm: Algorithm) throws {
        let key = try SampleKeys.make(algorithm).verificationKey
        let pem = try #require(try key.publicKeyPEM())
        let jwk = try #require(try JWK.publicJSON(of: key))
        for secret in [Array(pem.utf8), Array(pem.utf8.dropLast()), jwk] {
            let forger = try SigningKey(secret: SecretBytes(copying: secret), algorithm: .hs256)
            for name in ["HS256", algorithm.rawValue] {
                let forged = try CompactJWS(text: SampleToken.make(forger, header: #"{"alg":"\#(name)"}"#))
                #expect(throws: JOSEError.self) { try forged.verify(with: key) }
                #expect(throws: JOSEError.self) { try forged.verify(withAnyOf: [key]) }
            }
        }
        for hmac in [Algorithm.hs256, .hs384, .hs512] {
            expectRefusal(.invalidKey) { try VerificationKey(publicKeyPEM: pem, algorithm: hmac) }
            expectRefusal(.invalidKey) { try SigningKey(pem: SecretBytes(text: pem), algorithm: hmac) }
        }
    }

    @Test(arguments: [Algorithm.hs256, .hs384, .hs512])
    func `an HMAC with another secret is refused`(_ algorithm: Algorithm) throws {
        let secret = Array("a shared secret of some length".utf8)
        let key = try SigningKey(secret: SecretBytes(copying: secret), algorithm: algorithm)
        let token = try CompactJWS(text: SampleToken.make(key))
        try token.verify(with: key.verificationKey)
        for other in [secret + [0x20], Array(secret.dropLast()), Array("A shared secret of some length".utf8), [0]] {
            let key = try VerificationKey(secret: SecretBytes(copying: other), algorithm: algorithm)
            expectRefusal(.signatureInvalid) { try token.verify(with: key) }
        }
    }

    @Test func `the key is found by its id, and among keys without an id by trying`() throws {
        let keys = try ["a", "b", nil].map { try SigningKey.generate(.es256, keyID: $0) }
        let verifiers = keys.map(\.verificationKey)
        for (index, key) in keys.enumerated() {
            let header = key.keyID.map { #"{"alg":"ES256","kid":"\#($0)"}"# } ?? #"{"alg":"ES256"}"#
            let token = try CompactJWS(text: SampleToken.make(key, header: header))
            #expect(token.keyID == key.keyID)
            let found = try token.verify(withAnyOf: verifiers)
            #expect(found.hasSameMaterial(as: verifiers[index]))
        }
        let stranger = try CompactJWS(text: SampleToken.make(keys[0], header: #"{"alg":"ES256","kid":"c"}"#))
        expectRefusal(.noMatchingKey) { try stranger.verify(withAnyOf: Array(verifiers[..<2])) }
        expectRefusal(.signatureInvalid) { try stranger.verify(withAnyOf: verifiers) }
        expectRefusal(.noMatchingKey) { try stranger.verify(withAnyOf: []) }
        let swapped = try CompactJWS(text: SampleToken.make(keys[0], header: #"{"alg":"ES256","kid":"b"}"#))
        expectRefusal(.signatureInvalid) { try swapped.verify(withAnyOf: Array(verifiers[..<2])) }
        let other = try SigningKey.generate(.hs256, keyID: "c").verificationKey
        expectRefusal(.algorithmMismatch) { try stranger.verify(withAnyOf: [other]) }
    }
}
