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

/// A kind of session that opens an app, and the claim that is the app's user.
public struct SessionWay: Sendable, Hashable {
    private let kind: String
    private let issuer: String
    private let audience: String?
    private let claim: String

    /// - Parameters:
    ///   - kind: The name of the rules that the session satisfies.
    ///   - audience: The required audience, as the session's `aud` or in its list; nil for any.
    ///   - claim: The claim that names the user.
    public init(kind: String, issuer: String, audience: String?, claim: String) {
        self.kind = kind
        self.issuer = issuer
        self.audience = audience
        self.claim = claim
    }

    func isOpen(to session: Session) -> Bool {
        guard session.kinds.contains(kind), session.issuer.hasSameBytes(as: issuer) else { return false }
        guard let audience else { return true }
        return session.audiences.contains { $0.hasSameBytes(as: audience) }
    }

    /// Returns the user of an app that `ways` lead into.
    ///
    /// - Throws: `AccessRefusal`: `.appNotOpened` where no way is open to `session`, `.noUser` where it names no user.
    public static func user(of session: Session, by ways: [SessionWay]) throws(AccessRefusal) -> String {
        let open = ways.filter { $0.isOpen(to: session) }
        guard !open.isEmpty else { throw AccessRefusal(.appNotOpened) }
        for way in open { if let user = session.user(by: way.claim) { return user } }
        throw AccessRefusal(.noUser)
    }
}
