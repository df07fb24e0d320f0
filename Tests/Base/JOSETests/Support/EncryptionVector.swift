import Foundation
import Testing

@testable import Formats
@_spi(Decryption) @testable import JOSE

/// One published example of encryption, or of a step of it, as a file under `Vectors/Encryption` has it. Bytes are in
/// base64url, also where the source has them in another form.
struct EncryptionVector: Sendable, Decodable, CustomTestStringConvertible {
    let origin: String
    /// The token's `alg`, or what a derived key is for.
    let algorithm: String
    var key: [String: String]?
    /// The sender's.
    var ephemeralKey: [String: String]?
    var partyU: String?
    var partyV: String?
    var sharedSecret: String?
    var derivedKey: String?
    var wrappingKey: String?
    var contentKey: String?
    var encryptedKey: String?
    /// Compact serialization.
    var token: String?
    var plaintext: String?
    /// The secrets on the way to the plaintext, the shared one first, each byte combined with `MemorySearch.mask`. Not the
    /// source's, but worked out with Python's cryptography.
    var disguised: [String]?

    var testDescription: String { "\(origin), \(algorithm)" }

    static func all() throws -> [EncryptionVector] {
        try Vector.files(in: "Vectors/Encryption").map {
            try JSONDecoder().decode(Self.self, from: Data(contentsOf: $0))
        }
    }

    static func published(_ origin: String) throws -> EncryptionVector {
        try #require(try all().first { $0.origin == origin })
    }

    /// Tokens of the algorithms that are offered here.
    static func offered() throws -> [EncryptionVector] {
        try all().filter { $0.token != nil && KeyManagementAlgorithm(rawValue: $0.algorithm) != nil }
    }

    static func foreign() throws -> [EncryptionVector] {
        try all().filter { $0.token != nil && KeyManagementAlgorithm(rawValue: $0.algorithm) == nil }
    }

    var decryptionKey: JWEDecryptionKey {
        get throws { try JWEDecryptionKey(privateJWK: SecretBytes(copying: JSONEncoder().encode(try #require(key)))) }
    }

    func bytes(_ member: KeyPath<EncryptionVector, String?>) throws -> [UInt8] {
        try Base64.url.decode(text: try #require(self[keyPath: member]))
    }
}

/// Members of a JWK as libcrypto's key.
func evpKey(_ members: [String: String]?, isPrivate: Bool = true) throws -> EVPKey {
    let text = SecretBytes(copying: try JSONEncoder().encode(try #require(members)))
    return try JWKMembers(text).evpKey(isPrivate: isPrivate)
}
