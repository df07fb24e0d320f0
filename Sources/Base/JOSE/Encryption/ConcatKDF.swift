import COpenSSL

/// The Concat KDF with SHA-256 (NIST SP 800-56A, section 5.8.1), as RFC 7518, section 4.6.2 uses it.
enum ConcatKDF {
    /// The most that one round of the digest gives, in bytes; more is never asked for.
    static let limit = 32

    /// Returns the bytes that are mixed into a derived key: the key's purpose, and the two parties.
    ///
    /// - Parameters:
    ///   - algorithm: the algorithm the key is for.
    ///   - partyU: the sender, from `apu`.
    ///   - partyV: the recipient, from `apv`.
    ///   - bytes: the width of the key.
    static func info(algorithm: String, partyU: [UInt8], partyV: [UInt8], bytes: Int) -> [UInt8] {
        [Array(algorithm.utf8), partyU, partyV].flatMap { bigEndian($0.count) + $0 } + bigEndian(bytes * 8)
    }

    /// Fills `key`, of at most `limit` bytes, from the agreed `secret`.
    ///
    /// - Returns: false where libcrypto could not.
    @unsafe static func derive(
        _ secret: UnsafeBufferPointer<UInt8>, info: [UInt8], to key: UnsafeMutableBufferPointer<UInt8>
    ) -> Bool {
        guard key.count <= limit, let context = unsafe EVP_MD_CTX_new() else { return false }
        defer { unsafe EVP_MD_CTX_free(context) }
        let round = bigEndian(1)
        return unsafe SecretMemory.withScratch(limit) { digest in
            guard
                unsafe EVP_DigestInit_ex(context, SHA256.algorithm.pointer, nil) == 1
                    && EVP_DigestUpdate(context, round, round.count) == 1
                    && EVP_DigestUpdate(context, secret.baseAddress, secret.count) == 1
                    && EVP_DigestUpdate(context, info, info.count) == 1
                    && EVP_DigestFinal_ex(context, digest.baseAddress, nil) == 1
            else { return false }
            _ = unsafe key.update(fromContentsOf: digest[..<key.count])
            return true
        }
    }

    private static func bigEndian(_ number: Int) -> [UInt8] {
        let number = UInt32(clamping: number)
        return [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
    }
}
