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
    /// The key that signed, by the rules that know it.
    struct Signer: Sendable, Hashable {
        let kind: String
        /// The key's thumbprint; nil for a shared secret.
        let thumbprint: String?
    }

    /// The names of the rules that the token satisfies.
    public var kinds: [String] { signers.map(\.kind) }
    /// The key that signed the token, by each of the rules that it satisfies.
    private(set) var signers: [Signer]
    /// The audiences that the token names, of those that some app asks for.
    public private(set) var audiences: [String]
    /// The users that the token names, by the claims that some app asks for.
    public private(set) var users: [NamedUser]
    /// The session's end, as its token states it. The session was accepted a little longer, because clocks may differ.
    public let expiry: UnixTime
    /// The thumbprint of the key that the session is bound to (`cnf.jkt`: RFC 9449, section 6.1), if it is bound.
    public let boundKey: String?

    /// Returns the user that the claim `name` names; nil if it names none.
    public func user(by name: String) -> String? { users.first { $0.claim.hasSameBytes(as: name) }?.user }

    init(
        issuer: String, signers: [Signer], audiences: [String], users: [NamedUser], expiry: UnixTime, boundKey: String?
    ) {
        self.issuer = issuer
        self.signers = signers
        self.audiences = audiences
        self.users = users
        self.expiry = expiry
        self.boundKey = boundKey
    }

    /// Returns the same session, signed by `signer`.
    func signed(by signer: Signer) -> Session {
        var session = self
        session.signers = [signer]
        return session
    }

    /// Adds the signers, audiences and users that the same token has by other rules.
    mutating func add(_ other: Session) {
        signers += other.signers
        audiences += other.audiences
        users += other.users
    }
}
