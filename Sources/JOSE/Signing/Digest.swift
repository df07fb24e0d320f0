import COpenSSL

/// SHA-256 (FIPS 180-4): how a token is named without being kept.
public enum SHA256 {
    /// The 32 bytes of the digest of `bytes`.
    public static func hash(_ bytes: some Collection<UInt8>) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 32)
        let input = ContiguousArray(bytes)
        unsafe input.withUnsafeBytes { buffer in
            _ = unsafe EVP_Q_digest(nil, "SHA256", nil, buffer.baseAddress, buffer.count, &digest, nil)
        }
        return digest
    }
}
