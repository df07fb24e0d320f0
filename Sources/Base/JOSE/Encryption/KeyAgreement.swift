import COpenSSL

/// ECDH-ES with AES key wrap (RFC 7518, section 4.6): the key that wraps a message's key.
struct KeyAgreement {
    /// The private key of this side: the sender's ephemeral one, or the recipient's.
    let own: EVPKey
    /// The public key of the other side, on the same curve.
    let peer: EVPKey
    /// Whether the other side's point was found valid before, so that it is not checked for every message again.
    var isPeerChecked = false
    let curve: Algorithm.Curve
    /// The bytes that both sides mix in: see `ConcatKDF`.
    let info: [UInt8]

    /// Returns the bytes that are mixed in for the parties that a header names, or for none.
    static func info(partyU: [UInt8] = [], partyV: [UInt8] = []) -> [UInt8] {
        ConcatKDF.info(
            algorithm: KeyManagementAlgorithm.ecdhESA256KW.rawValue, partyU: partyU, partyV: partyV,
            bytes: KeyWrap.keyBytes)
    }

    /// Calls `body` with the wrapping key, which is overwritten afterwards, like the secret that it was derived from.
    ///
    /// - Returns: nil where there is no such key: the two keys are on different curves, or libcrypto failed.
    @unsafe func withWrappingKey<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result?) -> Result? {
        unsafe SecretMemory.withScratch(curve.coordinateBytes) { secret in
            guard unsafe agree(secret) else { return nil }
            return unsafe SecretMemory.withScratch(KeyWrap.keyBytes) { key in
                guard unsafe ConcatKDF.derive(UnsafeBufferPointer(secret), info: info, to: key) else { return nil }
                return unsafe body(UnsafeBufferPointer(key))
            }
        }
    }

    /// Writes the shared secret Z, a coordinate wide, to `secret`. libcrypto checks the peer's point unless that was done.
    @unsafe func agree(_ secret: UnsafeMutableBufferPointer<UInt8>) -> Bool {
        guard let context = unsafe EVP_PKEY_CTX_new_from_pkey(nil, own.pointer, nil) else { return false }
        defer { unsafe EVP_PKEY_CTX_free(context) }
        var count = secret.count
        return unsafe EVP_PKEY_derive_init(context) == 1
            && EVP_PKEY_derive_set_peer_ex(context, peer.pointer, isPeerChecked ? 0 : 1) == 1
            && EVP_PKEY_derive(context, secret.baseAddress, &count) == 1 && count == secret.count
    }
}
