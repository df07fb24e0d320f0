import Formats
public import JOSE

/// A customer's session, as its issuer vouches for it.
public struct Session: Sendable, Hashable {
    /// A user, and the claim that names it.
    public struct NamedUser: Sendable, Hashable {
        /// The claim's name.
        public let claim: String
        /// The user.
        public let user: String
    }

    /// The token's `iss`.
    public let issuer: String
    /// The names of the rules that the token satisfies.
    public private(set) var kinds: [String]
    /// The audiences that the token names, of those that some app asks for.
    public private(set) var audiences: [String]
    /// The users that the token names, by the claims that some app asks for.
    public private(set) var users: [NamedUser]
    /// The end of it, as the token says. It was accepted a little longer, where clocks may differ.
    public let expiry: UnixTime
    /// The thumbprint of the key that the session is bound to (`cnf.jkt`: RFC 9449, section 6.1), if it is bound.
    public let boundKey: String?

    /// Returns the user that the claim `name` names; nil if it names none.
    public func user(by name: String) -> String? { users.first { $0.claim.hasSameBytes(as: name) }?.user }

    /// Adds what the same token satisfies by other rules.
    mutating func add(_ other: Session) {
        kinds += other.kinds
        audiences += other.audiences
        users += other.users
    }
}
