import COpenSSL

/// SHA-256 (FIPS 180-4): how a token is named without being kept.
public enum SHA256 {
    /// Returns the 32 bytes of the digest of `bytes`.
    public static func hash(_ bytes: some Collection<UInt8>) -> [UInt8] { hash(Array(bytes)) }

    /// Returns the 32 bytes of the digest of `bytes`.
    public static func hash(_ bytes: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 32)
        unsafe bytes.withUnsafeBytes { buffer in
            _ = unsafe EVP_Digest(buffer.baseAddress, buffer.count, &digest, nil, algorithm.pointer, nil)
        }
        return digest
    }

    /// Returns whether both are the same digest, in a time that depends on their lengths alone.
    public static func equals(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        unsafe left.count == right.count && CRYPTO_memcmp(left, right, left.count) == 0
    }

    /// Fetched once: libcrypto 3.0 takes longer to look an algorithm up than to hash a token.
    static let algorithm = FetchedDigest("SHA256")
}

/// SHA-256 of one stretch of bytes after the other: libcrypto sets it up once.
///
/// Not `Sendable`: one per thread.
public final class SHA256Hasher {
    private let hasher: Hasher

    /// - Throws: `JOSEError` with `.libcrypto` when libcrypto has no such digest or no memory.
    public init() throws(JOSEError) { hasher = try Hasher("SHA256") }

    /// Returns the first eight bytes of the digest of the range `part` of `bytes`, as a number; nil where libcrypto
    /// could not make it, or the range is out of bounds.
    public func prefix(of bytes: [UInt8], in part: Range<Int>) -> UInt64? {
        guard part.clamped(to: bytes.indices) == part else { return nil }
        let isMade = unsafe bytes.withUnsafeBufferPointer {
            unsafe hasher.hash(UnsafeBufferPointer(rebasing: $0[part]))
        }
        guard isMade else { return nil }
        return unsafe hasher.output.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
}

/// A digest of libcrypto's that is kept for good.
///
/// `@unchecked Sendable`: never changed and never freed, and libcrypto allows any number of threads to use one.
@safe
struct FetchedDigest: @unchecked Sendable {
    let pointer: OpaquePointer?

    init(_ name: String) { unsafe pointer = unsafe EVP_MD_fetch(nil, name, nil) }
}
