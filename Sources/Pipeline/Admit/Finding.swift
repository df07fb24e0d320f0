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

    /// Reads `request`; nil where it proves nothing about the token.
    ///
    /// - Parameters:
    ///   - last: the last token of the user that the key of this moment signed, as far as one is remembered.
    ///   - isFresh: whether that token is good for longer than it takes to fetch and use it.
    init?(_ request: Admission.Request, _ last: RecentMint?, isFresh: Bool, loopWindow: Int64, at now: UnixTime) {
        guard !request.isReissue, request.isEnforced,
            let proof = Self.proof(in: request, last, isFresh: isFresh, loopWindow, now)
        else { return nil }
        switch request.evidence {
        case .key: self = .key(proof)
        // A token that answers a challenge is used once: what is said of it later calls for the next challenge.
        case .expired, .revoked:
            if request.isChallenge { return nil }
            self = request.evidence == .expired ? .clockSkew : .revoked
        case .none:
            guard request.isRefusal else { return nil }
            self = .refused
        }
    }

    private static func proof(
        in request: Admission.Request, _ last: RecentMint?, isFresh: Bool, _ loopWindow: Int64, _ now: UnixTime
    ) -> Suspensions.Evidence? {
        guard let last, isFresh else {
            // Nothing is remembered, but the report holds an unexpired token that the key of this moment signed.
            return last == nil && request.isOfActiveKey && request.saysWhy ? .token : nil
        }
        if let failed = request.failedToken { return failed == last.token ? .token : nil }
        guard request.saysWhy || request.loopGuard.countsEveryReport else { return nil }
        let device = request.devicePrint
        guard device != 0, last.device == device else { return nil }
        // A clock that was wrong stays wrong: the finding holds for the token that answered it.
        let isKnownSkew = request.evidence == .expired && last.answers == .expired
        return isKnownSkew || last.isWithin(loopWindow, of: now) ? .device(device) : nil
    }
}

extension Admission.Request {
    /// Whether the code itself says that a token was not taken; a code such as "there is no token" does not.
    fileprivate var saysWhy: Bool { isRefusal || evidence == .expired || evidence == .revoked }

    /// The device's fingerprint; zero for a device without a name.
    var devicePrint: UInt32 {
        guard let device else { return 0 }
        var hasher = Hasher()
        hasher.combine(device)
        return max(1, UInt32(truncatingIfNeeded: hasher.finalize()))
    }
}
