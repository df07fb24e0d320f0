import COpenSSL

/// The two forms of an ECDSA signature: libcrypto's DER and the fixed-width r‖s of JOSE (RFC 7518, section 3.4).
enum ECDSASignature {
    /// Writes r‖s to `output`, which is twice as wide as a coordinate.
    ///
    /// - Returns: false where `der` is no signature of that width.
    static func write(
        der: UnsafeBufferPointer<UInt8>, width: Int, to output: UnsafeMutableBufferPointer<UInt8>
    ) -> Bool {
        var cursor = der.baseAddress
        guard let signature = unsafe d2i_ECDSA_SIG(nil, &cursor, der.count), let start = output.baseAddress,
            output.count == 2 * width
        else { return false }
        defer { unsafe ECDSA_SIG_free(signature) }
        let count = Int32(width)
        return unsafe BN_bn2binpad(ECDSA_SIG_get0_r(signature), start, count) == count
            && BN_bn2binpad(ECDSA_SIG_get0_s(signature), start + width, count) == count
    }

    static func der(fromRaw raw: [UInt8], width: Int) -> [UInt8]? {
        guard raw.count == 2 * width, let signature = unsafe ECDSA_SIG_new() else { return nil }
        defer { unsafe ECDSA_SIG_free(signature) }
        guard let r = unsafe BN_bin2bn(Array(raw[..<width]), Int32(width), nil) else { return nil }
        guard let s = unsafe BN_bin2bn(Array(raw[width...]), Int32(width), nil) else {
            unsafe BN_free(r)
            return nil
        }
        // On success the signature owns both numbers.
        guard unsafe ECDSA_SIG_set0(signature, r, s) == 1 else {
            unsafe BN_free(r)
            unsafe BN_free(s)
            return nil
        }
        var output: UnsafeMutablePointer<UInt8>?
        let count = unsafe i2d_ECDSA_SIG(signature, &output)
        guard count > 0, let output = unsafe output else { return nil }
        defer { unsafe CRYPTO_free(output, nil, 0) }
        return unsafe Array(UnsafeBufferPointer(start: output, count: Int(count)))
    }
}
