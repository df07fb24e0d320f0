/// When a token's life begins and when it ends: `iat` and `exp` (RFC 7519, section 4.1), in seconds since 1970.
public struct Validity: Sendable, Equatable {
    /// When it is issued.
    public let issuedAt: Int64
    /// From when on it is not accepted any more.
    public let expiresAt: Int64

    /// A life from `issuedAt` to `expiresAt`.
    public init(from issuedAt: Int64, to expiresAt: Int64) {
        self.issuedAt = issuedAt
        self.expiresAt = expiresAt
    }
}
