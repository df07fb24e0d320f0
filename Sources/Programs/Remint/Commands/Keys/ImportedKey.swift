import JOSE
import Keyring

/// An existing key in a file: a PEM, a JWK or a shared secret.
struct ImportedKey {
    enum Form { case pem, jwk, secret }

    private static let pemStart = Array("-----BEGIN ".utf8)

    let path: String
    /// The form of the file; nil for the form that the first bytes show.
    var form: Form?
    /// The file of the passphrase of an encrypted PEM; nil for none.
    let passphraseFile: String?
    /// The encoding of a shared secret; nil where neither an option nor the vendor states it.
    let encoding: SecretEncoding?

    /// Reads the key, for tokens of `algorithm`.
    ///
    /// - Throws: `KeyRingError` for a file that cannot be read, `ImportRefused` for any other key, and for a passphrase of
    ///   a key that is no PEM.
    func read(_ algorithm: Algorithm) throws -> SigningKey {
        let contents = try KeyFile.read(path)
        let form = form ?? Self.form(of: contents, algorithm)
        guard passphraseFile == nil || form == .pem else {
            throw ImportRefused(path: path, reason: "it is no PEM; omit --passphrase-file")
        }
        let passphrase = try passphraseFile.map { try KeyFile.read($0).trimmingLineEnd() }
        do throws(JOSEError) {
            switch form {
            case .pem: return try SigningKey(importing: contents, passphrase: passphrase, algorithm: algorithm)
            case .jwk: return try JWK.signingKey(from: contents, algorithm: algorithm)
            case .secret:
                guard !contents.withBytes({ $0.starts(with: Self.pemStart) }) else {
                    throw JOSEError(
                        .invalidKey, "it is PEM, and \(algorithm.rawValue) signs with a shared secret of the vendor's")
                }
                guard let encoding else {
                    throw JOSEError(
                        .invalidEncoding, "a secret needs its --encoding: utf8, hex, base64 or base64url")
                }
                return try SigningKey(secret: try encoding.decode(contents), algorithm: algorithm)
            }
        } catch { throw ImportRefused(path: path, reason: error.message) }
    }

    /// Returns the form of a key for `algorithm` by its first bytes.
    private static func form(of contents: SecretBytes, _ algorithm: Algorithm) -> Form {
        let isJWK = contents.withBytes { $0.first { $0 > 0x20 } == UInt8(ascii: "{") }
        if isJWK { return .jwk }
        return algorithm.keyType == .secret ? .secret : .pem
    }
}

/// The reason that a key was not imported.
struct ImportRefused: Error, CustomStringConvertible {
    let path: String
    let reason: String
    var description: String { "\(path): \(reason)" }
}
