/// The limits of admission, in microseconds and counts.
public struct AdmissionRules: Sendable, Equatable {
    /// The number of recent subjects that are remembered; 0 turns coalescing and the loop guard off.
    public var subjects: Int
    /// For how long after a token every report that does not name the failed token is taken for the failure that token
    /// answers, in microseconds: one failure makes several SDK callbacks, and a device needs a moment to fetch the token.
    public var coalescing: Int64
    /// For how long after a token a report from the same device refuses it, where the report does not name the token, in
    /// microseconds.
    public var loopWindow: Int64
    /// The number of tokens of one key a subject gets in a row with no more than `loopWindow` between them, whatever the
    /// reports say.
    public var tokensPerWindow: Int
    /// The number of distinct users of an app who must refuse their tokens within `suspensionWindow` for everybody's events
    /// to wait. With fewer users who were given tokens, every one of them must refuse, and only their own events wait.
    public var usersToSuspend: Int
    /// The share they must be of the users who were given tokens in that time: from 0 to 1.
    public var shareToSuspend: Double
    /// The time in which users are counted, in microseconds.
    public var suspensionWindow: Int64
    /// The age a user's token must have for the user to count, in microseconds: before that nobody knows whether it is accepted.
    public var minimumAge: Int64
    /// A suspended app's wait for its first probe, and then for it to be refused, in microseconds. Each probe that is
    /// refused doubles the wait, up to fifteen times the first.
    public var probeWait: Int64
    /// The name of this worker, which others are told.
    public var worker: String

    /// The share of refusing users that is worth an alert.
    static let shareToWarn = 0.05

    /// The least time between two of a worker's records with its counts of an app, in microseconds.
    var countsInterval: Int64 { min(5_000_000, max(1_000_000, minimumAge / 12)) }

    /// The defaults: a quarter of a million subjects; 2 s; 60 s; 5 tokens; 20 users who are half of those who were given tokens
    /// within 10 minutes and at least a minute ago; a probe after a minute.
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
    /// Whole microseconds, within what 64 bits hold.
    package var microseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000)
        if overflow { return seconds < 0 ? .min : .max }
        let (sum, tooMuch) = product.addingReportingOverflow(attoseconds / 1_000_000_000_000)
        return tooMuch ? (seconds < 0 ? .min : .max) : sum
    }
}
