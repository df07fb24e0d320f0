/// The recipient of an app's sealed tokens: the worker seals them before it publishes them (`apps.*.seal`). The
/// recipient's private key alone opens them.
///
/// By reference, since every token of the app holds one. It holds a package key and can open nothing.
package final class TokenSeal: Sendable {
    /// The recipient's `kid`, by which records and tokens name the key.
    package let keyID: String
    private let encrypt: @Sendable ([UInt8]) throws(JOSEError) -> [UInt8]

    /// The longest `kid`, in bytes: every record contains it, in a header of its own as well.
    private static let longestKeyID = 128

    /// A seal for the recipient whose package JWK this is (see `JWERecipient`).
    ///
    /// - Throws: `JOSEError` with `.invalidKey`, `.weakKey` or `.unsupportedAlgorithm`; a JWK without a `kid`, with one of
    ///   several lines, or with private members is refused.
    package convenience init(publicJWK text: SecretBytes) throws(JOSEError) {
        let recipient = try JWERecipient(publicJWK: text)
        guard let keyID = recipient.keyID, 1...Self.longestKeyID ~= keyID.utf8.count,
            keyID.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else {
            throw JOSEError(
                .invalidKey,
                "the JWK needs a \"kid\" of 1 to \(Self.longestKeyID) visible ASCII characters, by which records name the key"
            )
        }
        self.init(keyID: keyID) { token throws(JOSEError) in try recipient.seal(token, contentType: "JWT") }
    }

    /// A seal that encrypts with `encrypt`.
    package init(keyID: String, encrypt: @escaping @Sendable ([UInt8]) throws(JOSEError) -> [UInt8]) {
        self.keyID = keyID
        self.encrypt = encrypt
    }

    /// Returns the compact JWE of `token`, whose `cty` marks the content as a JWT (RFC 7519, section 5.2).
    ///
    /// - Throws: `JOSEError` with `.libcrypto` or `.tokenTooLarge`.
    package func seal(_ token: [UInt8]) throws(JOSEError) -> [UInt8] { try encrypt(token) }
}

/// The further consumer of a token's records (`apps.*.publish`), whose required headers the records then have.
package enum TokenPublication: String, Sendable, CaseIterable {
    /// No further consumer.
    case none
    /// Centrifugo's Kafka consumer, which publishes the record to the user's own channel.
    case centrifugo
}
