import AdapterKit

/// When an event that failed is tried again, and when no more.
public struct RetryPolicy: Sendable, Equatable {
    /// A delay, and the topic of its own that events wait in for it.
    public struct Tier: Sendable, Equatable {
        /// How it is written, such as `10s`; the end of the topic's name.
        public let name: String
        /// The delay, in microseconds.
        let delay: Int64

        /// The tier `name`, after `delay`.
        public init(name: String, delay: Duration) {
            self.name = name
            self.delay = delay.microseconds
        }
    }

    /// The tiers, shortest first.
    public let tiers: [Tier]
    /// After how many attempts there is no other, the first one included.
    public let maxAttempts: Int
    /// How long after its first failure an event may still be tried again, in microseconds.
    let deadline: Int64
    /// The most that is added to a delay at random, in microseconds, so that what failed together does not come back
    /// together. Half a second: an event comes back within a second of its tier, and a tier stays nearly in order.
    static let jitter: Int64 = 500_000

    /// A policy with these tiers, at least one.
    public init(tiers: [Tier], maxAttempts: Int, deadline: Duration) {
        self.tiers = tiers
        self.maxAttempts = max(1, maxAttempts)
        self.deadline = deadline.microseconds
    }

    /// The defaults: 10 s, 1 min, 10 min; 8 attempts; a day.
    public static let standard = RetryPolicy(
        tiers: [
            Tier(name: "10s", delay: .seconds(10)), Tier(name: "1m", delay: .seconds(60)),
            Tier(name: "10m", delay: .seconds(600)),
        ], maxAttempts: 8, deadline: .seconds(86_400))

    /// Where and until when an event waits.
    struct Wait: Sendable, Equatable {
        let tier: Int
        let notBefore: UnixTime
    }

    /// What becomes of an event whose attempt number `attempts` failed.
    ///
    /// - Returns: nil where it was the last one.
    func wait(
        afterAttempt attempts: Int, firstFailure: UnixTime, now: UnixTime, random: inout some RandomNumberGenerator
    ) -> Wait? {
        guard attempts < maxAttempts, !tiers.isEmpty else { return nil }
        let tier = min(max(attempts - 1, 0), tiers.count - 1)
        let notBefore = self.notBefore(tier, now, &random)
        guard notBefore.microseconds(since: firstFailure) <= deadline else { return nil }
        return Wait(tier: tier, notBefore: notBefore)
    }

    /// Where an event of a suspended app waits, which counts as no attempt: each time a tier longer, so that a long suspension
    /// costs little.
    ///
    /// - Parameter tier: the tier it comes from; nil for a fresh one.
    /// - Returns: nil where the event's time is over.
    func wait(
        suspendedFrom tier: Int?, firstFailure: UnixTime, now: UnixTime, random: inout some RandomNumberGenerator
    ) -> Wait? {
        guard !tiers.isEmpty else { return nil }
        let next = min(tier.map { $0 + 1 } ?? 0, tiers.count - 1)
        let notBefore = notBefore(next, now, &random)
        guard notBefore.microseconds(since: firstFailure) <= deadline else { return nil }
        return Wait(tier: next, notBefore: notBefore)
    }

    /// Where an event waits that is to be answered about `moment`, which counts as no attempt: the shortest tier that
    /// lasts as long.
    ///
    /// - Returns: nil where the event's time is over.
    func wait(
        for moment: UnixTime, firstFailure: UnixTime, now: UnixTime, random: inout some RandomNumberGenerator
    ) -> Wait? {
        guard !tiers.isEmpty else { return nil }
        let length = moment.microseconds(since: now)
        let tier = tiers.firstIndex { $0.delay >= length } ?? tiers.count - 1
        let notBefore = self.notBefore(tier, now, &random)
        guard notBefore.microseconds(since: firstFailure) <= deadline else { return nil }
        return Wait(tier: tier, notBefore: notBefore)
    }

    private func notBefore(
        _ tier: Int, _ now: UnixTime, _ random: inout some RandomNumberGenerator
    ) -> UnixTime {
        let jitter = Int64.random(in: 0...Self.jitter, using: &random)
        // Headers say milliseconds; up, for it must not be early.
        let due = now.advanced(byMicroseconds: tiers[tier].delay).advanced(byMicroseconds: jitter + 999)
        return UnixTime(milliseconds: due.milliseconds)
    }
}

extension ErrorCode {
    /// Whether the same event may succeed later: nothing is wrong with the event itself.
    var isRetriable: Bool {
        switch self {
        case .keyUnavailable, .mintFailed, .lookupFailed: true
        case .malformedEvent, .eventTooLarge, .unknownApp, .wrongTopic, .identityMissing, .identityMismatch, .unproven,
            .appSuspended, .malformedReport, .missingUser, .missingChallenge,
            .challengeExpired, .notFixableByToken, .rejectedByVendor, .userGone, .retriesExhausted:
            false
        }
    }
}
