package import JOSE

/// A campaign that replaces one version of a ring by another, as a value: its phase, and the allowed steps.
///
/// ```
/// prepared ─► promoted ─► canary ─► waves ─► reissued ─► retired
///     └──────────┴──────────┴─────────┴─────────┴─► aborted
/// ```
/// A revocation skips the canary and cannot be aborted. A transition that was made already has no effect: a step can be
/// repeated after a crash.
package struct Rotation: Sendable, Equatable {
    /// The reason for the replacement.
    package enum Kind: String, Sendable, CaseIterable {
        /// The key is replaced in time, a canary first.
        case rotation
        /// The key is compromised: everybody gets a new token at once.
        case revocation
    }

    /// The progress of the campaign.
    package enum Phase: String, Sendable, CaseIterable {
        /// The new version is in the ring and does not sign.
        case prepared
        /// The new version signs.
        case promoted
        /// The first few tokens are re-issued and watched.
        case canary
        /// The rest is re-issued.
        case waves
        /// The ledger shows no token of the old version that could still be replaced.
        case reissued
        /// The old version is of no further use.
        case retired
        /// The old version signs again.
        case aborted

        /// Whether the campaign is over.
        package var isOver: Bool { self == .retired || self == .aborted }
    }

    /// The campaign's id: its checkpoint, its events and its audit lines name it.
    package let id: String
    /// The reason for the replacement.
    package internal(set) var kind: Kind
    /// The version that is replaced.
    package let from: String
    /// The version that replaces it.
    package let to: String
    /// The start time of the campaign.
    package let begun: UnixTime
    /// The account that began it; nil for one from before campaigns named it.
    package let by: String?
    /// The operator's reason; nil where none was given.
    package let why: String?
    /// Whether the campaign generated the key of its new version.
    package internal(set) var isOfOwnKey: Bool
    /// The phase that the campaign has reached.
    package internal(set) var phase: Phase
    /// The reason for its pause; nil if it is not paused.
    package internal(set) var pause: String?
    /// The start of its pause; nil if it is not paused.
    package internal(set) var pausedSince: UnixTime?
    /// The ends of the topics before its first event was sent: its outcomes lie behind them.
    package internal(set) var start: TopicMarks?
    /// The canary at hand; nil before the first, and after one that did not pass.
    package internal(set) var canary: RotationCanary?
    /// The outcome of the last canary that was judged, by app.
    package internal(set) var judged: [RotationStratum] = []
    /// The apps whose last canary did not pass.
    package internal(set) var failedApps: [String] = []
    /// The apps whose canary passed, and those that an operator let go on without one.
    package internal(set) var passedApps: [String] = []
    /// Canaries that were begun.
    package internal(set) var canaryCount = 0

    /// A campaign that begins.
    package init(
        id: String, kind: Kind = .rotation, from: String, to: String, at time: UnixTime, by: String? = nil,
        why: String? = nil, isOfOwnKey: Bool = false
    ) {
        self.isOfOwnKey = isOfOwnKey
        self.id = id
        self.kind = kind
        self.from = from
        self.to = to
        self.by = by
        self.why = why
        phase = .prepared
        begun = time
    }

    /// Returns whether the campaign itself put `version` into the ring, so that it is of no use without the campaign.
    package func hasMade(_ version: ListedVersion) -> Bool {
        isOfOwnKey && version.id == to
    }

    /// Notes that the campaign generated the key of its new version.
    package mutating func generatedKey() { isOfOwnKey = true }

    /// Notes that the new version signs.
    ///
    /// - Throws: `RotationError` where the campaign is over.
    package mutating func promoted() throws(RotationError) {
        try requireOpen("promote")
        if phase == .prepared { phase = .promoted }
    }

    /// Begins or continues the re-issue.
    ///
    /// - Parameter isCautious: whether a canary goes first; a revocation has none.
    /// - Throws: `RotationError` before the promotion, while it is paused, and where the campaign is over.
    package mutating func reissuing(isCautious: Bool) throws(RotationError) {
        try requireOpen("reissue")
        if let pause {
            throw RotationError("the campaign is paused: \(pause); go on with: \(RemintCommand("rotate resume"))")
        }
        switch phase {
        case .prepared: throw RotationError("\(to) does not sign yet; first: \(RemintCommand("rotate promote"))")
        case .promoted: phase = isCautious && kind == .rotation ? .canary : .waves
        case .reissued: phase = .waves
        case .canary where kind == .revocation: phase = .waves
        case .canary, .waves, .retired, .aborted: break
        }
    }

    /// Notes that the campaign's first event is about to be sent.
    package mutating func began(at marks: TopicMarks) { if start == nil { start = marks } }

    /// Notes that a canary is about to be sent.
    package mutating func began(_ canary: RotationCanary) {
        guard phase == .canary, self.canary == nil else { return }
        self.canary = canary
        canaryCount += 1
    }

    /// Notes that the canary at hand was answered, at `marks`.
    package mutating func canaryAnswered(at marks: TopicMarks) {
        if canary?.answered == nil { canary?.answered = marks }
    }

    /// Returns whether users of the app `name` may be asked for without a canary.
    package func hasPassed(_ name: String) -> Bool {
        kind == .revocation || passedApps.contains { $0.hasSameBytes(as: name) }
    }

    /// Returns the number of users that the next canary of the app `name` needs: silence of fewer users than the vendor
    /// refused proves nothing.
    ///
    /// - Parameter least: the number that is enough in any case.
    package func canaryNeed(of name: String, least: Int) -> Int {
        guard failedApps.contains(where: { $0.hasSameBytes(as: name) }) else { return 1 }
        return min(least, judged.first { $0.app.hasSameBytes(as: name) }?.users ?? least)
    }

    /// Users of an app without a passed canary are to be asked for: a canary of them comes first.
    package mutating func awaitCanary() {
        if kind == .rotation, phase == .waves { phase = .canary }
    }

    /// Notes that the canary's tokens were published and not refused, or that the campaign continues without one.
    ///
    /// - Parameters:
    ///   - strata: The results of its users, by app.
    ///   - apps: The apps that may be asked for from now on.
    package mutating func canaryPassed(_ strata: [RotationStratum] = [], of apps: [String] = []) {
        guard phase == .canary else { return }
        phase = .waves
        canary = nil
        if !strata.isEmpty { judged = strata }
        passedApps = Set(passedApps).union(apps).sorted()
        failedApps.removeAll(where: apps.contains)
    }

    /// Notes that the canary did not pass: nothing more is sent until `resume`, which asks for another one.
    ///
    /// - Parameters:
    ///   - strata: The results of its users, by app.
    ///   - apps: The apps of `strata` that did not pass; none if the campaign is paused before it has a canary.
    /// - Throws: `RotationError` where the campaign is over.
    package mutating func canaryFailed(
        because reason: String, _ strata: [RotationStratum] = [], failed apps: [String] = []
    ) throws(RotationError) {
        try pause(because: reason)
        canary?.hasFailed = true
        if !strata.isEmpty { judged = strata }
        failedApps = Set(failedApps).union(apps).sorted()
    }

    /// Notes that the ledger shows no token of the old version that could still be replaced.
    package mutating func reissued() { if phase == .waves { phase = .reissued } }

    /// Pauses the campaign: nothing more is sent until `resume`.
    ///
    /// - Throws: `RotationError` where the campaign is over.
    package mutating func pause(because reason: String) throws(RotationError) {
        try requireOpen("pause")
        pause = reason
    }

    /// Notes that the campaign was paused, or resumed, at `time`.
    package mutating func datePause(_ time: UnixTime) { pausedSince = pause == nil ? nil : time }

    /// Allows the re-issue again. A canary that did not pass is followed by one of other users.
    package mutating func resume() {
        pause = nil
        if canary?.hasFailed == true { canary = nil }
    }

    /// Aborts the campaign, which returns to the old version.
    ///
    /// - Throws: `RotationError` where the old version is retired or revoked.
    package mutating func abort() throws(RotationError) {
        guard phase != .aborted else { return }
        try requireOpen("abort")
        guard kind == .rotation else {
            throw RotationError("a revocation cannot be aborted: \(from) is compromised; go on with: \(next)")
        }
        phase = .aborted
        pause = nil
    }

    /// Notes that the old version is of no further use.
    ///
    /// - Throws: `RotationError` before the promotion and after an abort.
    package mutating func retired() throws(RotationError) {
        guard phase != .retired else { return }
        try requireOpen("retire")
        guard phase != .prepared else {
            throw RotationError("\(from) still signs; first: \(RemintCommand("rotate promote"))")
        }
        phase = .retired
        pause = nil
    }

    private func requireOpen(_ step: String) throws(RotationError) {
        guard !phase.isOver else {
            throw RotationError(
                "the campaign from \(from) to \(to) is \(phase.rawValue), so there is nothing to \(step); begin another with: \(RemintCommand("rotate prepare"))"
            )
        }
    }
}
