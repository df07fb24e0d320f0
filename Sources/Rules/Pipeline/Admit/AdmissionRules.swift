/// The limits of admission, in microseconds and counts.
public struct AdmissionRules: Sendable, Equatable {
    /// The number of remembered subjects; 0 turns coalescing and the loop guard off.
    public var subjects: Int
    /// The time after a token in which every report without the failed token's name belongs to the answered failure, in
    /// microseconds. One failure causes several SDK callbacks, and a device needs a moment to fetch the token.
    public var coalescing: Int64
    /// The time after a token in which a report from the same device, without the token's name, counts as a refusal, in
    /// microseconds.
    public var loopWindow: Int64
    /// The maximum number of tokens of one key that a subject gets in a row with at most `loopWindow` between them.
    public var tokensPerWindow: Int
    /// The minimum number of users whose tokens the vendor refuses within `suspensionWindow`, for the events of all
    /// users to wait. If fewer users got tokens, and the vendor refuses the tokens of all of them, only their events
    /// wait. It is also the number of users who test a suspended app's key in a round.
    public var usersToSuspend: Int
    /// The minimum share of refusing users among the users who got tokens in that time, from 0 to 1.
    public var shareToSuspend: Double
    /// The time over which users are counted, in microseconds.
    public var suspensionWindow: Int64
    /// The minimum age of a counted user's token, in microseconds. Before that, it is unknown whether the vendor
    /// accepts the token.
    public var minimumAge: Int64
    /// A suspended app's wait for its first probes, and then for refusals of their tokens, in microseconds. Refusals of
    /// several users make the next wait longer, up to 15 times the first.
    public var probeWait: Int64
    /// The name of this worker in its records.
    public var worker: String

    /// The share of refusing users that raises an alert.
    static let shareToWarn = 0.05

    /// The minimum time between two of a worker's records with its counts of an app, in microseconds.
    var countsInterval: Int64 { min(5_000_000, max(1_000_000, minimumAge / 12)) }

    /// Creates rules. The defaults are 250,000 subjects, 2 s, 60 s and 5 tokens. An app is suspended if the vendor
    /// refuses the tokens of at least 20 users, and of at least half of the users with tokens from the last 10 minutes
    /// that are at least a minute old. The first probes follow after a minute.
    public init(
        subjects: Int = 250_000, coalescing: Duration = .seconds(2), loopWindow: Duration = .seconds(60),
        tokensPerWindow: Int = 5, usersToSuspend: Int = 20, shareToSuspend: Double = 0.5,
        suspensionWindow: Duration = .seconds(600), minimumAge: Duration = .seconds(60),
        probeWait: Duration = .seconds(60), worker: String = ""
    ) {
        self.subjects = subjects
        self.coalescing = coalescing.microseconds
        self.loopWindow = loopWindow.microseconds
        self.tokensPerWindow = tokensPerWindow
        self.usersToSuspend = usersToSuspend
        self.shareToSuspend = shareToSuspend
        self.suspensionWindow = suspensionWindow.microseconds
        self.minimumAge = minimumAge.microseconds
        self.probeWait = probeWait.microseconds
        self.worker = worker
    }
}

extension Duration {
    /// The duration in whole microseconds, clamped to 64 bits.
    package var microseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000)
        if overflow { return seconds < 0 ? .min : .max }
        let (sum, tooMuch) = product.addingReportingOverflow(attoseconds / 1_000_000_000_000)
        return tooMuch ? (seconds < 0 ? .min : .max) : sum
    }
}
