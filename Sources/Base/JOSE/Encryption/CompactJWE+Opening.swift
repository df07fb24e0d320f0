import COpenSSL

extension CompactJWE {
    /// The plaintext, opened with `key` by the key's own algorithm.
    ///
    /// - Throws: `JOSEError` with `.algorithmMismatch`, which the header alone decides, or `.decryptionFailed`, the same
    ///   whatever was wrong: a key that is not the recipient's, an encrypted key, a ciphertext or a tag that was changed.
    @_spi(Decryption) public func open(with key: JWEDecryptionKey) throws(JOSEError) -> [UInt8] {
        let plaintext: [UInt8]?
        switch (key.key.way, way) {
        case (.agreement(let curve), .agreement(let sender)):
            guard sender.key.type == .ec(curve) else {
                throw JOSEError(
                    .algorithmMismatch, "the header's \"epk\" is not on the key's curve, \(curve.rawValue)")
            }
            let agreement = KeyAgreement(own: key.key.key, peer: sender.key, curve: curve, info: sender.info)
            plaintext = unsafe decrypt { messageKey in
                let isUnwrapped = unsafe agreement.withWrappingKey {
                    unsafe KeyWrap.unwrap(encryptedKey, under: $0, to: messageKey)
                }
                return isUnwrapped == true
            }
        case (.transport, .transport):
            plaintext = unsafe decrypt { unsafe KeyTransport.decrypt(encryptedKey, with: key.key.key, to: $0) }
        default:
            throw JOSEError(
                .algorithmMismatch, "the token does not name the key's algorithm, \(key.algorithm.rawValue)")
        }
        guard let plaintext else {
            clearCryptoErrors()
            throw JOSEError(.decryptionFailed, "the key does not open the token")
        }
        return plaintext
    }

    /// The plaintext, and the key among `keys` that opened it. A token with a `kid` is tried with the keys of that id and those
    /// without an id, a token without one with all.
    ///
    /// - Throws: `JOSEError` with `.noMatchingKey`, `.algorithmMismatch` or `.decryptionFailed`.
    @_spi(Decryption) public func open(
        withAnyOf keys: [JWEDecryptionKey]
    ) throws(JOSEError) -> (plaintext: [UInt8], key: JWEDecryptionKey) {
        let candidates = keys.filter { mayMean($0.keyID) }
        guard !candidates.isEmpty else { throw JOSEError(.noMatchingKey, "no key has the token's \"kid\"") }
        var failure = JOSEError(.algorithmMismatch, "no key is of the token's algorithm")
        for key in candidates {
            do throws(JOSEError) { return (try open(with: key), key) } catch {
                if error.code == .decryptionFailed { failure = error }
            }
        }
        throw failure
    }

    /// Decrypts the content with the key that `unwrap` writes.
    ///
    /// If `unwrap` finds no key, the content is decrypted with random bytes: the time of a refusal must not show whether
    /// the encrypted key or the content was to blame (RFC 7516, section 11.5).
    private func decrypt(_ unwrap: (UnsafeMutableBufferPointer<UInt8>) -> Bool) -> [UInt8]? {
        unsafe SecretMemory.withScratch(A256GCM.keyBytes) { messageKey in
            let isUnwrapped = unsafe unwrap(messageKey)
            if !isUnwrapped {
                guard unsafe RAND_priv_bytes(messageKey.baseAddress, Int32(messageKey.count)) == 1 else { return nil }
            }
            let plaintext = unsafe A256GCM.decrypt(
                content, key: UnsafeBufferPointer(messageKey), additionalData: additionalData)
            return isUnwrapped ? plaintext : nil
        }
    }
}
