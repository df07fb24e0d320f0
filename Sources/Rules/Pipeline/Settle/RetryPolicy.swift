public import AdapterKit
public import Records

/// The rules for retries of a failed event: their delays, their number and their deadline.
public struct RetryPolicy: Sendable, Equatable {
    /// A delay, and the retry topic in which events wait for that delay.
    public struct Tier: Sendable, Equatable {
        /// The tier's name, such as `10s`: the suffix of the topic's name.
        public let name: String
        /// The delay, in microseconds.
        let delay: Int64

        public init(name: String, delay: Duration) {
            self.name = name
            self.delay = delay.microseconds
        }
    }

    /// The tiers, shortest first.
    public let tiers: [Tier]
    /// The maximum number of attempts, including the first one.
    public let maxAttempts: Int
    /// The time after its first failure during which an event may be retried, in microseconds.
    let deadline: Int64
    /// The maximum random addition to a delay, in microseconds. It keeps events that failed together from returning
    /// together. With half a second, an event returns within a second of its delay and a tier stays nearly in order.
    static let jitter: Int64 = 500_000

    public init(tiers: [Tier], maxAttempts: Int, deadline: Duration) {
        self.tiers = tiers
        self.maxAttempts = max(1, maxAttempts)
        self.deadline = deadline.microseconds
    }

    /// The default policy: tiers of 10 s, 1 min and 10 min, 8 attempts, a deadline of one day.
    public static let standard = RetryPolicy(
        tiers: [
            Tier(name: "10s", delay: .seconds(10)), Tier(name: "1m", delay: .seconds(60)),
            Tier(name: "10m", delay: .seconds(600)),
        ], maxAttempts: 8, deadline: .seconds(86_400))

    /// The tier and the end of an event's wait.
    struct Wait: Sendable, Equatable {
        let tier: Int
        let notBefore: UnixTime
    }

    /// Returns the wait of an event whose attempt number `attempts` failed.
    ///
    /// - Returns: nil if it was the last attempt.
    func wait(
        afterAttempt attempts: Int, firstFailure: UnixTime, now: UnixTime, random: inout some RandomNumberGenerator
    ) -> Wait? {
        guard attempts < maxAttempts, !tiers.isEmpty else { return nil }
        return wait(in: min(max(attempts - 1, 0), tiers.count - 1), firstFailure, now, &random)
    }

    /// Returns the wait of an event whose app is suspended. It does not count as an attempt. Each wait is one tier
    /// longer, so a long suspension costs little.
    ///
    /// - Parameter tier: the event's current tier; nil for a fresh event.
    /// - Returns: nil if the event's deadline has passed.
    func wait(
        suspendedFrom tier: Int?, firstFailure: UnixTime, now: UnixTime, random: inout some RandomNumberGenerator
    ) -> Wait? {
        guard !tiers.isEmpty else { return nil }
        return wait(in: min(tier.map { $0 + 1 } ?? 0, tiers.count - 1), firstFailure, now, &random)
    }

    /// Returns the wait of an event that can be answered at about `moment`: the shortest tier that is long enough. It
    /// does not count as an attempt.
    ///
    /// - Returns: nil if the event's deadline has passed.
    func wait(
        for moment: UnixTime, firstFailure: UnixTime, now: UnixTime, random: inout some RandomNumberGenerator
    ) -> Wait? {
        guard !tiers.isEmpty else { return nil }
        let length = moment.microseconds(since: now)
        return wait(in: tiers.firstIndex { $0.delay >= length } ?? tiers.count - 1, firstFailure, now, &random)
    }

    private func wait(
        in tier: Int, _ firstFailure: UnixTime, _ now: UnixTime, _ random: inout some RandomNumberGenerator
    ) -> Wait? {
        let jitter = Int64.random(in: 0...Self.jitter, using: &random)
        // The header has milliseconds. Round up, so that the event is not early.
        let due = now.advanced(byMicroseconds: tiers[tier].delay).advanced(byMicroseconds: jitter + 999)
        let notBefore = UnixTime(milliseconds: due.milliseconds)
        return notBefore.microseconds(since: firstFailure) <= deadline ? Wait(tier: tier, notBefore: notBefore) : nil
    }
}

extension ErrorCode {
    /// Whether the same event may succeed later: the event itself is valid.
    var isRetriable: Bool {
        switch self {
        case .keyUnavailable, .mintFailed, .lookupFailed: true
        case .malformedEvent, .eventTooLarge, .unreadableBatch, .unknownApp, .wrongTopic, .identityMissing,
            .identityMismatch, .unproven, .appSuspended, .malformedReport, .missingUser, .missingVouched,
            .missingChallenge, .challengeExpired, .notFixableByToken, .rejectedByVendor, .userGone, .retriesExhausted:
            false
        }
    }
}

/// An event on its way to a retry tier: key, value and headers as they came, its origin, and the end of its wait.
struct RetryRecord: Sendable {
    let record: InputRecord
    let provenance: Provenance
    let wait: RetryPolicy.Wait
    let deferral: Deferral
    let stage: Stage
    let time: UnixTime

    var output: OutputRecord {
        // A wait for a suspended app or for a vendor's answer is no attempt.
        let attempts = provenance.attempts + (deferral.isAttempt ? 1 : 0)
        var headers = record.keptHeaders + provenance.headers
        headers += [
            RecordHeader(HopHeaders.notBefore, String(wait.notBefore.milliseconds)),
            RecordHeader(HopHeaders.attempts, String(attempts)),
            RecordHeader(HopHeaders.redrives, String(Provenance.redrives(of: record.body))),
            RecordHeader(HopHeaders.history, provenance.history(adding: deferral.name, at: stage, on: time)),
        ]
        let failed = provenance.firstFailedAt ?? time
        headers.append(RecordHeader(HopHeaders.firstFailedAt, String(failed.milliseconds)))
        return OutputRecord(
            destination: .retries(tier: wait.tier), key: record.key, value: record.value, headers: headers)
    }
}

extension RetryPolicy {
    /// Returns the time at which a worker may process a record of a retry tier: the time that its header states, with a
    /// limit.
    ///
    /// Any producer with access to the topic can write a time in the far future, as a header or as the record's
    /// timestamp, and block the partition. The limit is the tier's delay plus five seconds for clock differences.
    func dueTime(of record: InputRecord, takenAt now: UnixTime) -> UnixTime {
        dueTime(of: record.body, tier: record.tier, producedAt: record.timestamp, takenAt: now)
    }

    public func dueTime(
        of body: RecordBody, tier: Int?, producedAt timestamp: UnixTime?, takenAt now: UnixTime
    ) -> UnixTime {
        guard let timestamp, let tier, tiers.indices.contains(tier) else {
            return UnixTime(microseconds: .min)
        }
        let due = min(timestamp, now).advanced(byMicroseconds: tiers[tier].delay)
        let stated = body.text(HopHeaders.notBefore).flatMap { Int64($0) }.map {
            UnixTime(milliseconds: $0)
        }
        return min(stated ?? due, due.advanced(byMicroseconds: 5_000_000))
    }
}
