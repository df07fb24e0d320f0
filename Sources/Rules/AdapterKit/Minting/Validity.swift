/// The beginning and the end of a token's life: `iat` and `exp` (RFC 7519, section 4.1), in seconds since 1970.
public struct Validity: Sendable, Equatable {
    /// The token's time of issue.
    public let issuedAt: Int64
    /// The first second at which the token is not accepted any more.
    public let expiresAt: Int64

    /// A life from `issuedAt` to `expiresAt`.
    public init(from issuedAt: Int64, to expiresAt: Int64) {
        self.issuedAt = issuedAt
        self.expiresAt = expiresAt
    }
}
