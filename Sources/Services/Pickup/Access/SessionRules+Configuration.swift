import Access
import WorkerConfiguration

extension SessionRules {
    /// The rules of a session's section, with the claims that the apps require.
    init(_ session: Configuration.Pickup.Session, of pickup: Configuration.Pickup) {
        let ways = pickup.ways(of: session.name)
        self.init(
            issuer: session.issuer, audience: session.audience, algorithms: session.algorithms, skew: session.skew,
            audiences: ways.compactMap(\.audience), userClaims: ways.isEmpty ? [session.userClaim] : ways.map(\.claim))
        name = session.name
    }
}

extension DPoPRules {
    /// Rules whose memory holds the proofs that the limits of `pickup` admit in a window of two minutes.
    init(for pickup: Configuration.Pickup) {
        self.init()
        remembered = min(max(remembered, pickup.totalRate * 121), Self.mostRemembered)
        rememberedByKey = max(rememberedByKey, pickup.callerRate * 121)
    }

    /// The maximum number of proofs in memory: about 400 MB.
    private static let mostRemembered = 5_000_000
}
