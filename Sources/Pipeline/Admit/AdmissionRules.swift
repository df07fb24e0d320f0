/// What admission goes by, in seconds and counts.
public struct AdmissionRules: Sendable, Equatable {
    /// How many recent subjects are remembered; 0 turns coalescing and the loop guard off.
    public var subjects: Int
    /// For how long after a token every report that does not name the failed token is taken for the failure that token
    /// answers, in microseconds: one failure makes several SDK callbacks, and a device needs a moment to fetch the token.
    public var coalescing: Int64
    /// For how long after a token a report from the same device refuses it, where the report does not name the token, in
    /// microseconds.
    public var loopWindow: Int64
    /// How many tokens of one key a subject gets in a row with no more than `loopWindow` between them, whatever the reports say.
    public var tokensPerWindow: Int
    /// How many distinct users of an app must refuse their tokens within `suspensionWindow` for it to be suspended, at least.
    public var usersToSuspend: Int
    /// What share they must be of the users who were given tokens in that time: from 0 to 1.
    public var shareToSuspend: Double
    /// See `usersToSuspend`; in microseconds.
    public var suspensionWindow: Int64
    /// How long a suspended app waits for its first probe, and then for it to be refused, in microseconds. Each probe that is
    /// refused doubles the wait, up to fifteen times the first.
    public var probeWait: Int64
    /// The name of this worker, which others are told.
    public var worker: String

    /// The defaults: a quarter of a million subjects; 2 s; 60 s; 5 tokens; 10 users who are 5 % of those minted for within 10
    /// minutes; a probe after a minute.
    public init(
        subjects: Int = 250_000, coalescing: Duration = .seconds(2), loopWindow: Duration = .seconds(60),
        tokensPerWindow: Int = 5, usersToSuspend: Int = 10, shareToSuspend: Double = 0.05,
        suspensionWindow: Duration = .seconds(600), probeWait: Duration = .seconds(60), worker: String = ""
    ) {
        self.subjects = subjects
        self.coalescing = coalescing.microseconds
        self.loopWindow = loopWindow.microseconds
        self.tokensPerWindow = tokensPerWindow
        self.usersToSuspend = usersToSuspend
        self.shareToSuspend = shareToSuspend
        self.suspensionWindow = suspensionWindow.microseconds
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
