import AdapterKit
@_spi(Decryption) import JOSE
import Testing

/// A recipient of sealed tokens, with the private key that no worker has.
struct SealRecipient: CustomTestStringConvertible, Sendable {
    let key: JWEDecryptionKey
    let seal: TokenSeal

    var testDescription: String { key.algorithm.rawValue }

    init(_ algorithm: KeyManagementAlgorithm, keyID: String = "pickup-1") throws {
        key = try JWEDecryptionKey.generate(algorithm, keyID: keyID)
        seal = try TokenSeal(publicJWK: SecretBytes(copying: key.recipient.publicJSON()))
    }

    /// One of each algorithm, made once.
    static let all = Result { try KeyManagementAlgorithm.allCases.map { try SealRecipient($0) } }

    /// The one of `algorithm`.
    static func of(_ algorithm: KeyManagementAlgorithm) throws -> SealRecipient {
        guard let found = try all.get().first(where: { $0.key.algorithm == algorithm }) else {
            throw Rejection(.mintFailed, "no recipient for \(algorithm)")
        }
        return found
    }

    /// Returns the content of `token`.
    func open(_ token: String) throws -> [UInt8] { try CompactJWE(parsing: Array(token.utf8)).open(with: key) }
}
