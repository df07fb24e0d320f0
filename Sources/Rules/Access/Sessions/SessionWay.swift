import JOSE

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

    /// Returns whether `session` opens the app, with or without a user.
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
