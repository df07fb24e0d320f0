import Formats

/// The claims of a JWT about its own life. The signature is not verified: that is the broker's task.
struct JWTClaims {
    /// `exp`.
    let expiry: UnixTime?
    /// `sub`.
    let subject: String?

    /// Parses the claims; nil where `token` is no JWT (RFC 7519, section 3), signed or not.
    init?(_ token: String) {
        let parts = Array(token.utf8).split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let payload = try? Base64.url.decode(parts[1]),
            let claims = try? JSONDocument(parsing: payload).root, claims.isObject
        else { return nil }
        // Whole seconds will do; a fraction is cut (RFC 7519, section 2).
        expiry = claims["exp"]?.number.flatMap { Int64(exactly: $0.rounded(.down)) }.map { UnixTime(seconds: $0) }
        subject = claims["sub"]?.string
    }
}
