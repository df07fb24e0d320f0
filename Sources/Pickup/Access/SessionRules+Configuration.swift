import Access
import WorkerConfiguration

extension SessionRules {
    /// The rules of a session's section, with what the apps ask of its sessions.
    init(_ session: Configuration.Pickup.Session, of pickup: Configuration.Pickup) {
        let ways = pickup.ways(of: session.name)
        self.init(
            issuer: session.issuer, audience: session.audience, algorithms: session.algorithms, skew: session.skew,
            audiences: ways.compactMap(\.audience), userClaims: ways.isEmpty ? [session.userClaim] : ways.map(\.claim))
        name = session.name
    }
}
