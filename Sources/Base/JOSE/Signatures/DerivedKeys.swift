extension SigningKey {
    /// Returns the shared secret HMAC-SHA256(this secret, `label`), for the same algorithm: a vendor's key of a day
    /// (Sinch).
    ///
    /// - Throws: `JOSEError` with `.invalidKey` where this is no shared secret, `.libcrypto`.
    public func derived(with label: [UInt8]) throws(JOSEError) -> SigningKey {
        guard let secret else { throw JOSEError(.invalidKey, "a key is derived from a shared secret alone") }
        let root = try Signer(SigningKey(secret: secret, algorithm: .hs256))
        return try SigningKey(secret: root.secret(of: label), algorithm: algorithm, keyID: keyID)
    }
}

extension VerificationKey {
    /// Returns the key that verifies the signatures of `SigningKey.derived(with:)`.
    ///
    /// - Throws: as that.
    public func derived(with label: [UInt8]) throws(JOSEError) -> VerificationKey {
        guard let secret else { throw JOSEError(.invalidKey, "a key is derived from a shared secret alone") }
        return try SigningKey(secret: secret, algorithm: algorithm, keyID: keyID).derived(with: label).verificationKey
    }
}
