import AdapterKit

/// The fact that a report proves about the last token of its user, which is unexpired.
///
/// Two things prove it: the report names that token, or the device that got it reports again within the loop window. A
/// nameless device is nobody: two of them are not the same one.
enum Finding: Sendable, Equatable {
    /// The vendor cannot use what the key signs. The only finding that counts towards a suspension.
    case key(Suspensions.Evidence)
    /// The report calls the token expired. The device's clock is wrong, or its SDK names the wrong token.
    case clockSkew
    /// The vendor took the token back.
    case revoked
    /// The vendor refuses the token and gives no reason that blames anything.
    case refused

    /// Reads `facts`; nil where it proves nothing about the token.
    ///
    /// - Parameters:
    ///   - last: the last token of the user that the key of this moment signed, as far as one is remembered.
    ///   - isFresh: whether that token is good for longer than it takes to fetch and use it.
    init?(_ facts: AdmissionFacts, _ last: RecentMint?, isFresh: Bool, loopWindow: Int64, at now: UnixTime) {
        guard !facts.isReissue, facts.isEnforced,
            let proof = Self.proof(in: facts, last, isFresh: isFresh, loopWindow, now)
        else { return nil }
        switch facts.evidence {
        case .key: self = .key(proof)
        // A token that answers a challenge is used once: what is said of it later calls for the next challenge.
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
            // Nothing is remembered, but the report holds an unexpired token that the key of this moment signed.
            return last == nil && facts.isOfActiveKey && facts.saysWhy ? .token : nil
        }
        if let failed = facts.failedToken { return failed == last.token ? .token : nil }
        guard facts.saysWhy || facts.loopGuard.countsEveryReport else { return nil }
        let device = facts.device
        guard device != 0, last.device == device else { return nil }
        // A clock that was wrong stays wrong: the finding holds for the token that answered it.
        let isKnownSkew = facts.evidence == .expired && last.answers == .expired
        return isKnownSkew || last.isWithin(loopWindow, of: now) ? .device(device) : nil
    }
}
