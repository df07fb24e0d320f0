import Foundation
import JOSE
import Testing

@testable import Formats

/// One published example, as a file under `Vectors/` has it.
struct Vector: Sendable, Decodable, CustomTestStringConvertible {
    /// The RFC and the section it was taken from.
    let origin: String
    let algorithm: String
    /// Whether signing yields the published token and no other.
    var deterministic: Bool?
    let key: [String: String]
    /// Compact serialization.
    var token: String?
    /// The token's payload, if the source has it as a string.
    var payload: String?
    /// RFC 7638, where the source has one.
    var thumbprint: String?

    var testDescription: String { "\(origin), \(algorithm)" }

    var jwk: SecretBytes {
        get throws { SecretBytes(copying: try JSONEncoder().encode(key)) }
    }

    var requiredAlgorithm: Algorithm {
        get throws { try #require(Algorithm(rawValue: algorithm)) }
    }

    var verificationKey: VerificationKey {
        get throws { try JWK.verificationKey(from: jwk, algorithm: requiredAlgorithm) }
    }

    var signingKey: SigningKey {
        get throws { try JWK.signingKey(from: jwk, algorithm: requiredAlgorithm) }
    }

    /// Returns the files in `folder`, without its folders.
    static func files(in folder: String = "Vectors") throws -> [URL] {
        let folder = try #require(Bundle.module.url(forResource: folder, withExtension: nil))
        return try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { !$0.hasDirectoryPath }
            .sorted { $0.lastPathComponent < $1.lastPathComponent }
    }

    static func all() throws -> [Vector] {
        try files().map { try JSONDecoder().decode(Vector.self, from: Data(contentsOf: $0)) }
    }

    static func signed() throws -> [Vector] { try all().filter { $0.token != nil } }
}
