import COpenSSL

/// The two forms of an ECDSA signature: libcrypto's DER and the fixed-width r‖s of JOSE (RFC 7518, section 3.4).
enum ECDSASignature {
    static func raw(fromDER der: [UInt8], width: Int) -> [UInt8]? {
        unsafe der.withUnsafeBufferPointer { buffer in
            var cursor = buffer.baseAddress
            guard let signature = unsafe d2i_ECDSA_SIG(nil, &cursor, buffer.count) else { return nil }
            defer { unsafe ECDSA_SIG_free(signature) }
            var r = [UInt8](repeating: 0, count: width)
            var s = r
            guard unsafe BN_bn2binpad(ECDSA_SIG_get0_r(signature), &r, Int32(width)) == Int32(width),
                unsafe BN_bn2binpad(ECDSA_SIG_get0_s(signature), &s, Int32(width)) == Int32(width)
            else { return nil }
            return r + s
        }
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
