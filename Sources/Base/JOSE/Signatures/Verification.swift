import COpenSSL

extension VerificationKey {
    /// Returns whether `signature` is this key's JWS signature of `input`. A signature of the wrong length is not.
    public func isValid(_ signature: [UInt8], of input: [UInt8]) -> Bool {
        defer { clearCryptoErrors() }
        switch (material, algorithm.keyType) {
        case (.secret(let secret), _): return isValidMAC(signature, of: input, secret)
        case (.asymmetric(let key), .ec(let curve)):
            guard let der = ECDSASignature.der(fromRaw: signature, width: curve.coordinateBytes) else { return false }
            return isValidDigestSignature(der, of: input, key)
        case (.asymmetric(let key), .ed25519):
            return signature.count == 64 && isValidDigestSignature(signature, of: input, key)
        case (.asymmetric(let key), _):
            return unsafe signature.count == Int(EVP_PKEY_get_size(key.pointer))
                && isValidDigestSignature(signature, of: input, key)
        }
    }

    private func isValidMAC(_ signature: [UInt8], of input: [UInt8], _ secret: SecretBytes) -> Bool {
        guard let expected = try? Signer(SigningKey(secret: secret, algorithm: algorithm)).sign(input) else {
            return false
        }
        return unsafe expected.count == signature.count && CRYPTO_memcmp(expected, signature, expected.count) == 0
    }

    private func isValidDigestSignature(_ signature: [UInt8], of input: [UInt8], _ key: EVPKey) -> Bool {
        guard let context = unsafe EVP_MD_CTX_new() else { return false }
        defer { unsafe EVP_MD_CTX_free(context) }
        // The key context belongs to the digest context.
        var keyContext: OpaquePointer?
        guard
            unsafe EVP_DigestVerifyInit_ex(context, &keyContext, algorithm.digestName, nil, nil, key.pointer, nil) == 1
        else {
            return false
        }
        if algorithm.isPSS {
            guard let keyContext = unsafe keyContext,
                unsafe EVP_PKEY_CTX_set_rsa_padding(keyContext, RSA_PKCS1_PSS_PADDING) == 1,
                unsafe EVP_PKEY_CTX_set_rsa_pss_saltlen(keyContext, RSA_PSS_SALTLEN_DIGEST) == 1
            else { return false }
        }
        return unsafe EVP_DigestVerify(context, signature, signature.count, input, input.count) == 1
    }
}
