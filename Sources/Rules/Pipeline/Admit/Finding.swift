import AdapterKit

/// The fact that a report proves about its user's latest token, which is unexpired.
///
/// There are two kinds of proof: the report names that token, or the device that got it reports again within the loop
/// window. Devices without a name are never the same device.
enum Finding: Sendable, Equatable {
    /// The vendor refuses the key's signature. Only this finding counts towards a suspension.
    case key(Suspensions.Evidence)
    /// The report calls the token expired. The device's clock is wrong, or its SDK names the wrong token.
    case clockSkew
    /// The vendor revoked the token.
    case revoked
    /// The vendor refuses the token without a reason.
    case refused

    /// Reads `facts`; nil if they prove nothing about the token.
    ///
    /// - Parameters:
    ///   - last: the user's latest token that the current key signed, if it is remembered.
    ///   - isFresh: whether that token is valid for longer than it takes to fetch and use it.
    init?(_ facts: AdmissionFacts, _ last: RecentMint?, isFresh: Bool, loopWindow: Int64, at now: UnixTime) {
        guard !facts.isReissue, facts.isEnforced,
            let proof = Self.proof(in: facts, last, isFresh: isFresh, loopWindow, now)
        else { return nil }
        switch facts.evidence {
        case .key: self = .key(proof)
        // A token for a challenge is used once: a later report calls for the next challenge.
        case .expired, .revoked:
            if facts.isChallenge { return nil }
            self = facts.evidence == .expired ? .clockSkew : .revoked
        case .none:
            guard facts.isRefusal else { return nil }
            self = .refused
        }
    }

    private static func proof(
        in facts: AdmissionFacts, _ last: RecentMint?, isFresh: Bool, _ loopWindow: Int64, _ now: UnixTime
    ) -> Suspensions.Evidence? {
        guard let last, isFresh else {
            // No token is remembered, but the report contains an unexpired token that the current key signed.
            return last == nil && facts.isOfActiveKey && facts.saysWhy ? .token : nil
        }
        if let failed = facts.failedToken { return failed == last.token ? .token : nil }
        guard facts.saysWhy || facts.loopGuard.countsEveryReport else { return nil }
        let device = facts.device
        guard device != 0, last.device == device else { return nil }
        // A wrong clock stays wrong: the finding applies to the token that answered it.
        let isKnownSkew = facts.evidence == .expired && last.answers == .expired
        return isKnownSkew || last.isWithin(loopWindow, of: now) ? .device(device) : nil
    }
}
