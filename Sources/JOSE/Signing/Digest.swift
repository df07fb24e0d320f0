import COpenSSL

/// SHA-256 (FIPS 180-4): how a token is named without being kept.
public enum SHA256 {
    /// The 32 bytes of the digest of `bytes`.
    public static func hash(_ bytes: some Collection<UInt8>) -> [UInt8] { hash(Array(bytes)) }

    /// The 32 bytes of the digest of `bytes`.
    public static func hash(_ bytes: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 32)
        unsafe bytes.withUnsafeBytes { buffer in
            _ = unsafe EVP_Digest(buffer.baseAddress, buffer.count, &digest, nil, algorithm.pointer, nil)
        }
        return digest
    }

    /// Fetched once: libcrypto 3.0 takes longer to look an algorithm up than to hash a token.
    private static let algorithm = FetchedDigest("SHA256")
}

/// A digest of libcrypto's that is kept for good.
///
/// `@unchecked Sendable`: never changed, and libcrypto allows any number of threads to use one.
@safe
private struct FetchedDigest: @unchecked Sendable {
    let pointer: OpaquePointer?

    init(_ name: String) { unsafe pointer = unsafe EVP_MD_fetch(nil, name, nil) }
}
