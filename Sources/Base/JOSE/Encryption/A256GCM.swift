import COpenSSL

/// AES-256-GCM, which encrypts the content (RFC 7518, section 5.3).
enum A256GCM {
    static let name = "A256GCM"
    static let keyBytes = 32
    static let ivBytes = 12
    static let tagBytes = 16

    /// The result of one encryption.
    struct Sealed {
        var iv: [UInt8]
        var ciphertext: [UInt8]
        var tag: [UInt8]
    }

    private static let cipher = FetchedCipher("AES-256-GCM")

    /// Encrypts `plaintext` under `key` and authenticates `additionalData` with it.
    ///
    /// - Parameter iv: 12 bytes that were never used with this key; where nil, random ones.
    /// - Returns: nil where libcrypto could not.
    @unsafe static func encrypt(
        _ plaintext: [UInt8], key: UnsafeBufferPointer<UInt8>, additionalData: [UInt8], iv: [UInt8]? = nil
    ) -> Sealed? {
        guard let iv = iv ?? randomIV(), let run = unsafe CipherRun(cipher, .encrypt, key: key, iv: iv),
            run.authenticate(additionalData)
        else { return nil }
        var isEncrypted = false
        let ciphertext = unsafe [UInt8](unsafeUninitializedCapacity: plaintext.count) { output, count in
            let written = unsafe plaintext.withUnsafeBufferPointer { unsafe run.run($0, to: output) }
            isEncrypted = written == plaintext.count
            count = written ?? 0
        }
        guard isEncrypted, let tag = run.tag(bytes: tagBytes) else { return nil }
        return Sealed(iv: iv, ciphertext: ciphertext, tag: tag)
    }

    /// The plaintext of `sealed`; nil where the key is another, or anything was changed.
    @unsafe static func decrypt(
        _ sealed: Sealed, key: UnsafeBufferPointer<UInt8>, additionalData: [UInt8]
    ) -> [UInt8]? {
        guard sealed.tag.count == tagBytes, let run = unsafe CipherRun(cipher, .decrypt, key: key, iv: sealed.iv),
            run.expect(tag: sealed.tag), run.authenticate(additionalData)
        else { return nil }
        var isAuthentic = false
        let plaintext = unsafe [UInt8](unsafeUninitializedCapacity: sealed.ciphertext.count) { output, count in
            let written = unsafe sealed.ciphertext.withUnsafeBufferPointer { unsafe run.run($0, to: output) }
            // Nil is no count: an empty text that is refused must not pass for one of no bytes.
            isAuthentic = written == sealed.ciphertext.count
            count = written ?? 0
            // Nobody may see the text that was decrypted before the tag proved wrong.
            if !isAuthentic { unsafe OPENSSL_cleanse(output.baseAddress, output.count) }
        }
        return isAuthentic ? plaintext : nil
    }

    /// Returns 96 random bits. A key encrypts one message, so two of them never meet under it.
    private static func randomIV() -> [UInt8]? {
        var iv = [UInt8](repeating: 0, count: ivBytes)
        return unsafe RAND_bytes(&iv, Int32(ivBytes)) == 1 ? iv : nil
    }
}
