import Formats

extension Configuration.Pickup {
    /// A kind of session that opens an app.
    public struct Way: Sendable, Hashable {
        /// The place of the session's section under `pickup`.
        public let session: String
        /// `iss` of the session.
        public let issuer: String
        /// The required audience, as `aud` or in its list; nil to accept any.
        public let audience: String?
        /// The claim that names the user.
        public let claim: String
    }

    /// Returns the sessions that open `app`; empty for an app that devices do not reach.
    public func ways(into app: String) -> [Way] { apps[app]?.ways(among: sessions) ?? [] }

    /// Returns every way that begins with sessions of the section `session`, into any app.
    public func ways(of session: String) -> [Way] {
        apps.values.flatMap { $0.ways(among: sessions) }.filter { $0.session == session }
    }
}

extension Configuration.Pickup.OpenedApp {
    /// Returns the sessions that open the app: those of its issuer, for its audience where it names one.
    func ways(among sessions: [Configuration.Pickup.Session]) -> [Configuration.Pickup.Way] {
        sessions.filter { session in
            guard session.issuer.hasSameBytes(as: issuer) else { return false }
            guard let audience, let own = session.audience else { return true }
            return audience.hasSameBytes(as: own)
        }.map { session in
            Configuration.Pickup.Way(
                session: session.name, issuer: issuer, audience: audience ?? session.audience,
                claim: claim ?? session.userClaim)
        }
    }
}
