import COpenSSL

/// Reads and writes the PEM forms of keys: PKCS#8, PKCS#1 and SEC1 private keys, plain or encrypted, and
/// SubjectPublicKeyInfo public keys.
enum PEM {
    /// Returns the private key in `text`.
    ///
    /// - Throws: `JOSEError`: `.privateKeyRequired`, `.passphraseRequired`, `.wrongPassphrase`, `.unsupportedCipher`,
    ///   `.invalidKey`.
    static func privateKey(_ text: SecretBytes, passphrase: SecretBytes?) throws(JOSEError) -> EVPKey {
        var asked = false
        let key: EVPKey? = unsafe withBIO(text) { bio in
            unsafe withPassphrase(passphrase) { state in
                defer { asked = unsafe state.pointee.asked == 1 }
                return unsafe remint_read_private_key(bio, state).map { unsafe EVPKey(owning: $0) }
            }
        }
        defer { clearCryptoErrors() }
        if let key {
            try key.requirePlainForm()
            return key
        }
        let form = KeyFileForm(text)
        if asked {
            guard let passphrase else {
                throw JOSEError(.passphraseRequired, "the private key is encrypted; name the file of its passphrase")
            }
            throw refusal(of: form, passphrase)
        }
        throw form.refusal
    }

    /// Returns the error for an encrypted key that its passphrase did not decrypt.
    private static func refusal(of form: KeyFileForm, _ passphrase: SecretBytes) -> JOSEError {
        if remint_lacks_cipher() == 1 || form.headerCipher.map({ !isOffered($0) }) == true {
            return JOSEError(
                .unsupportedCipher,
                "the private key is encrypted with a cipher that libcrypto does not offer by default, such as RC2 or DES; encrypt it again: openssl pkcs8 -topk8 -v2 aes-256-cbc -provider legacy -provider default -in FILE -out key.pem"
            )
        }
        if passphrase.isUTF16 { return JOSEError(.wrongPassphrase, "the passphrase \(TextMark.utf16)") }
        return JOSEError(.wrongPassphrase, "the passphrase does not open the private key")
    }

    private static func isOffered(_ cipher: String) -> Bool {
        guard let found = unsafe EVP_CIPHER_fetch(nil, cipher, nil) else { return false }
        unsafe EVP_CIPHER_free(found)
        return true
    }

    /// Returns the public key in `text`.
    static func publicKey(_ text: SecretBytes) throws(JOSEError) -> EVPKey {
        defer { clearCryptoErrors() }
        let key = unsafe withBIO(text) { bio in
            unsafe remint_read_public_key(bio).map { unsafe EVPKey(owning: $0) }
        }
        guard let key else {
            throw JOSEError(.invalidKey, "not a public key in PEM (SubjectPublicKeyInfo)")
        }
        try key.requirePlainForm()
        return key
    }

    /// Returns SubjectPublicKeyInfo, the form that the vendors' dashboards accept.
    static func text(publicKey key: EVPKey) throws(JOSEError) -> String {
        let text = unsafe written { unsafe PEM_write_bio_PUBKEY($0, key.pointer) }
        guard let text else { throw JOSEError(.libcrypto, "the public key could not be written") }
        return unsafe text.withBytes { unsafe String(decoding: $0, as: UTF8.self) }
    }

    /// Returns unencrypted PKCS#8.
    static func text(privateKey key: EVPKey) throws(JOSEError) -> SecretBytes {
        let text = unsafe written { unsafe PEM_write_bio_PKCS8PrivateKey($0, key.pointer, nil, nil, 0, nil, nil) }
        guard let text else { throw JOSEError(.libcrypto, "the private key could not be written") }
        return text
    }

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
