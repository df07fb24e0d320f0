/// The reason that this module refuses an input or an operation.
///
/// The message names the problem and its fix. It never contains key material, a token, a claim's value or a byte of the
/// refused input.
public struct JOSEError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kind of a refusal, on which a caller can act without reading text.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        private enum Value: String, Sendable {
            case invalidEncoding, invalidJSON, tokenTooLarge, notThreeParts, malformedHeader, malformedPayload
            case malformedSignature, unsupportedAlgorithm, unsupportedCritical, algorithmMismatch, signatureInvalid
            case noMatchingKey, invalidKey, weakKey, privateKeyRequired, passphraseRequired, wrongPassphrase
            case unsupportedCipher
            case notFiveParts, malformedCiphertext, unsupportedCompression, decryptionFailed
            case libcrypto
        }

        private let value: Value

        private init(_ value: Value) { self.value = value }

        /// The text violates its encoding: base64, base64url or hex.
        public static let invalidEncoding = Code(.invalidEncoding)
        /// Bytes that are not one JSON text within the limits.
        public static let invalidJSON = Code(.invalidJSON)
        /// A token longer than the limit.
        public static let tokenTooLarge = Code(.tokenTooLarge)
        /// Not `header.payload.signature`, or a part that is not canonical base64url.
        public static let notThreeParts = Code(.notThreeParts)
        /// A protected header that is not an object with unique members and a string `alg`.
        public static let malformedHeader = Code(.malformedHeader)
        /// A payload that is not a JSON object.
        public static let malformedPayload = Code(.malformedPayload)
        /// A signature that is not canonical base64url or has the wrong width.
        public static let malformedSignature = Code(.malformedSignature)
        /// An algorithm this module does not know, `none` among them.
        public static let unsupportedAlgorithm = Code(.unsupportedAlgorithm)
        /// A `crit` member: no extension is understood here, so all are refused (RFC 7515, 4.1.11; RFC 7516, 4.1.13).
        public static let unsupportedCritical = Code(.unsupportedCritical)
        /// The token names another algorithm than the key is for.
        public static let algorithmMismatch = Code(.algorithmMismatch)
        /// The signature is not the key's.
        public static let signatureInvalid = Code(.signatureInvalid)
        /// None of the given keys can be the token's.
        public static let noMatchingKey = Code(.noMatchingKey)
        /// Key material that is not a key of the wanted kind.
        public static let invalidKey = Code(.invalidKey)
        /// An RSA key shorter than 2048 bits (RFC 7518, 3.3).
        public static let weakKey = Code(.weakKey)
        /// A public key where a private one is needed.
        public static let privateKeyRequired = Code(.privateKeyRequired)
        /// An encrypted key without a passphrase.
        public static let passphraseRequired = Code(.passphraseRequired)
        /// A passphrase that does not open the key.
        public static let wrongPassphrase = Code(.wrongPassphrase)
        /// A key that is encrypted with a cipher libcrypto does not offer by default.
        public static let unsupportedCipher = Code(.unsupportedCipher)
        /// The encrypted token does not have five parts.
        public static let notFiveParts = Code(.notFiveParts)
        /// An encrypted key, initialization vector, ciphertext or tag that is not canonical base64url or has the wrong width.
        public static let malformedCiphertext = Code(.malformedCiphertext)
        /// The header has a `zip` member: compression reveals the plaintext's secrets by its length, and is not offered
        /// (RFC 8725, 3.6).
        public static let unsupportedCompression = Code(.unsupportedCompression)
        /// An encrypted token that the key does not open. The error never names the part that is to blame (RFC 7516,
        /// 11.5).
        public static let decryptionFailed = Code(.decryptionFailed)
        /// libcrypto failed where no input is to blame.
        public static let libcrypto = Code(.libcrypto)

        /// The code's name.
        public var description: String { value.rawValue }
    }

    /// The kind of refusal.
    public let code: Code
    /// The message in one line, for people.
    public let message: String

    /// An error with `code` and `message`.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The error in words, without a token or a key.
    public var description: String { message }
}
