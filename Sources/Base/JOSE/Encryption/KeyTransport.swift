import COpenSSL

/// RSA-OAEP with SHA-256, for the label as for the mask (RFC 8017, section 7.1; RFC 7518, section 4.3).
enum KeyTransport {
    /// `key` encrypted to `recipient`; nil where libcrypto could not.
    @unsafe static func encrypt(_ key: UnsafeBufferPointer<UInt8>, to recipient: EVPKey) -> [UInt8]? {
        guard let context = unsafe EVP_PKEY_CTX_new_from_pkey(nil, recipient.pointer, nil) else { return nil }
        defer { unsafe EVP_PKEY_CTX_free(context) }
        guard unsafe EVP_PKEY_encrypt_init(context) == 1, unsafe setPadding(of: context) else { return nil }
        var encrypted = [UInt8](repeating: 0, count: width(of: recipient))
        var count = encrypted.count
        guard unsafe EVP_PKEY_encrypt(context, &encrypted, &count, key.baseAddress, key.count) == 1,
            count == encrypted.count
        else { return nil }
        return encrypted
    }

    /// Writes the key that `encrypted` holds to `key`, which is as wide as it.
    ///
    /// - Returns: false where it was encrypted to another key, or changed.
    @unsafe static func decrypt(
        _ encrypted: [UInt8], with own: EVPKey, to key: UnsafeMutableBufferPointer<UInt8>
    ) -> Bool {
        let width = width(of: own)
        guard encrypted.count == width, let context = unsafe EVP_PKEY_CTX_new_from_pkey(nil, own.pointer, nil) else {
            return false
        }
        defer { unsafe EVP_PKEY_CTX_free(context) }
        guard unsafe EVP_PKEY_decrypt_init(context) == 1, unsafe setPadding(of: context) else { return false }
        return unsafe SecretMemory.withScratch(width) { plain in
            var count = plain.count
            guard unsafe EVP_PKEY_decrypt(context, plain.baseAddress, &count, encrypted, encrypted.count) == 1,
                count == key.count
            else { return false }
            _ = unsafe key.update(fromContentsOf: plain[..<count])
            return true
        }
    }

    /// Returns the number of bytes of a key's modulus, and of a ciphertext made with it.
    private static func width(of key: EVPKey) -> Int { unsafe Int(EVP_PKEY_get_size(key.pointer)) }

    private static func setPadding(of context: OpaquePointer) -> Bool {
        unsafe EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_OAEP_PADDING) == 1
            && EVP_PKEY_CTX_set_rsa_oaep_md(context, SHA256.algorithm.pointer) == 1
            && EVP_PKEY_CTX_set_rsa_mgf1_md(context, SHA256.algorithm.pointer) == 1
    }
}
