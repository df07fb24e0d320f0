import COpenSSL

/// Reads and writes the PEM forms of keys: PKCS#8, PKCS#1 and SEC1 private keys, plain or encrypted, and
/// SubjectPublicKeyInfo public keys.
enum PEM {
    /// The private key in `text`.
    ///
    /// - Throws: `JOSEError`: `.privateKeyRequired`, `.passphraseRequired`, `.wrongPassphrase`, `.invalidKey`.
    static func privateKey(_ text: SecretBytes, passphrase: SecretBytes?) throws(JOSEError) -> EVPKey {
        var asked = false
        let key: EVPKey? = unsafe withBIO(text) { bio in
            unsafe withPassphrase(passphrase) { state in
                defer { asked = unsafe state.pointee.asked == 1 }
                return unsafe remint_read_private_key(bio, state).map { unsafe EVPKey(owning: $0) }
            }
        }
        defer { clearCryptoErrors() }
        if let key { return key }
        if asked {
            throw passphrase == nil
                ? JOSEError(.passphraseRequired, "the private key is encrypted; name the file of its passphrase")
                : JOSEError(.wrongPassphrase, "the passphrase does not open the private key")
        }
        if label(of: text).contains("PUBLIC KEY") || label(of: text) == "CERTIFICATE" {
            throw JOSEError(.privateKeyRequired, "this is a public key; a private one is needed to sign")
        }
        throw JOSEError(.invalidKey, "not a private key in PEM (PKCS#8, PKCS#1 or SEC1)")
    }

    /// The public key in `text`.
    static func publicKey(_ text: SecretBytes) throws(JOSEError) -> EVPKey {
        defer { clearCryptoErrors() }
        let key = unsafe withBIO(text) { bio in
            unsafe remint_read_public_key(bio).map { unsafe EVPKey(owning: $0) }
        }
        guard let key else {
            throw JOSEError(.invalidKey, "not a public key in PEM (SubjectPublicKeyInfo)")
        }
        return key
    }

    /// SubjectPublicKeyInfo, the form the vendors' dashboards take.
    static func text(publicKey key: EVPKey) throws(JOSEError) -> String {
        let text = unsafe written { unsafe PEM_write_bio_PUBKEY($0, key.pointer) }
        guard let text else { throw JOSEError(.libcrypto, "the public key could not be written") }
        return unsafe text.withBytes { unsafe String(decoding: $0, as: UTF8.self) }
    }

    /// Unencrypted PKCS#8.
    static func text(privateKey key: EVPKey) throws(JOSEError) -> SecretBytes {
        let text = unsafe written { unsafe PEM_write_bio_PKCS8PrivateKey($0, key.pointer, nil, nil, 0, nil, nil) }
        guard let text else { throw JOSEError(.libcrypto, "the private key could not be written") }
        return text
    }

    /// The label of the first block, to say what a file is when it is not what was wanted; empty where there is none. Nothing but
    /// the label leaves the secret's memory.
    private static func label(of text: SecretBytes) -> String {
        let (mark, hyphen) = (Array("-----BEGIN ".utf8), UInt8(ascii: "-"))
        return unsafe text.withBytes { bytes in
            let head = unsafe bytes.prefix(4096)
            for start in unsafe head.indices {
                guard unsafe start == 0 || head[start - 1] == 0x0A || head[start - 1] == 0x0D,
                    unsafe head[start...].starts(with: mark)
                else { continue }
                // RFC 7468 knows none that is longer.
                let label = unsafe head[start...].dropFirst(mark.count).prefix(longestLabel).prefix { $0 != hyphen }
                return unsafe String(decoding: label, as: UTF8.self)
            }
            return ""
        }
    }

    /// `ENCRYPTED PRIVATE KEY` and its like.
    private static let longestLabel = 40

    static func withBIO<Result>(_ text: SecretBytes, _ body: (OpaquePointer) -> Result?) -> Result? {
        unsafe text.withBytes { bytes in
            guard let bio = unsafe BIO_new_mem_buf(bytes.baseAddress, Int32(clamping: bytes.count)) else { return nil }
            defer { unsafe BIO_free(bio) }
            return unsafe body(bio)
        }
    }

    private static func withPassphrase<Result>(
        _ passphrase: SecretBytes?, _ body: (UnsafeMutablePointer<remint_passphrase>) -> Result
    ) -> Result {
        guard let passphrase else {
            var state = unsafe remint_passphrase(bytes: nil, count: 0, asked: 0)
            return unsafe body(&state)
        }
        return unsafe passphrase.withBytes { bytes in
            var state = unsafe remint_passphrase(
                bytes: bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), count: bytes.count, asked: 0)
            return unsafe body(&state)
        }
    }

    private static func written(_ write: (OpaquePointer) -> Int32) -> SecretBytes? {
        // A secure-memory BIO overwrites its buffer when it is freed.
        guard let bio = unsafe BIO_new(BIO_s_secmem()) else { return nil }
        defer {
            unsafe BIO_free(bio)
            clearCryptoErrors()
        }
        var bytes: UnsafeMutablePointer<CChar>?
        guard unsafe write(bio) == 1, case let count = unsafe remint_bio_bytes(bio, &bytes), let bytes = unsafe bytes
        else { return nil }
        return unsafe SecretBytes(copying: UnsafeRawBufferPointer(start: bytes, count: count))
    }
}
