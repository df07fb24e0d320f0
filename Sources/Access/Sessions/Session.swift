public import JOSE

/// A customer's session, as its issuer vouches for it.
public struct Session: Sendable, Hashable {
    /// Who vouches: the token's `iss`.
    public let issuer: String
    /// Whom for: the user's claim.
    public let user: String
    /// The end of it, as the token says. It was accepted a little longer, where clocks may differ.
    public let expiry: UnixTime
    /// The thumbprint of the key that the session is bound to (`cnf.jkt`: RFC 9449, section 6.1), if it is bound.
    public let boundKey: String?
}
