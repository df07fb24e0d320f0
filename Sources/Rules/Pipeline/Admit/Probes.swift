import AdapterKit

/// The users of a suspended app whose events get tokens all the same, to test whether the vendor accepts our tokens.
///
/// Accounts may cost an attacker nothing, so no user tests for all others, and nobody can take another user's turn:
///
/// - *Established* users got a token of the key before the suspension, and refused none. Each of them tests once, as
///   soon as the first wait is over.
/// - *Newcomers* test in rounds, those first seen longest ago first. The wait for the next round grows if several users
///   of a round refuse.
/// - *Refusers* refused a token before. They test in rounds of their own, after twice the wait. Otherwise, an app whose
///   users all refused would never resume.
struct Probes: Sendable {
    enum Rank: Sendable { case established, newcomer, refuser }

    /// The result of the probes whose tokens are old enough.
    enum Verdict: Sendable, Equatable {
        case accepted
        /// These users do not refuse, and at least as many refuse.
        case divided(accepted: Set<SubjectID>, refused: Int)
    }

    private var start: UnixTime
    private var newcomers: Rounds
    private var refusers: Rounds
    /// The users of this batch who test and have no token yet.
    private var chosen: [SubjectID: Rank] = [:]
    /// The users who have a token and have not refused it, with the time of its mint.
    private var out: [SubjectID: (rank: Rank, since: UnixTime)] = [:]
    /// The users who refused their tokens, with the time of the refusal.
    private var refused: [SubjectID: UnixTime] = [:]

    init(_ rules: AdmissionRules, at now: UnixTime) {
        let size = max(1, rules.usersToSuspend)
        newcomers = Rounds(size: size, wait: rules.probeWait, at: now)
        refusers = Rounds(size: size, wait: Rounds.product(rules.probeWait, 2), at: now)
        start = now.advanced(byMicroseconds: rules.probeWait)
    }

    /// The time of the next round of newcomers; nil during a round that nobody has refused.
    var nextDue: UnixTime? { newcomers.due }

    /// Returns whether an event of `id` tests the key now. It does so until `release`, or until `send`.
    ///
    /// - Parameter firstSeen: the time from which the user is known.
    mutating func choose(_ id: SubjectID, _ rank: Rank, firstSeen: UnixTime, at now: UnixTime) -> Bool {
        guard chosen[id] == nil, out[id] == nil else { return false }
        let isChosen =
            switch rank {
            case .established: start <= now
            case .newcomer: newcomers.choose(id, firstSeen: firstSeen, at: now)
            case .refuser: refusers.choose(id, firstSeen: firstSeen, at: now)
            }
        if isChosen { chosen[id] = rank }
        return isChosen
    }

    /// Records that the event of `id` got its token.
    mutating func send(to id: SubjectID, at now: UnixTime) {
        if let rank = chosen.removeValue(forKey: id) { out[id] = (rank, now) }
    }

    /// Releases the chosen events that got no token. They test when they come again.
    mutating func release() {
        for (id, rank) in chosen { invite(id, rank) }
        chosen = [:]
    }

    /// Records that the token of `id` was not published.
    mutating func giveBack(_ id: SubjectID) {
        if let rank = out.removeValue(forKey: id)?.rank { invite(id, rank) }
    }

    private mutating func invite(_ id: SubjectID, _ rank: Rank) {
        switch rank {
        case .established: break
        case .newcomer: newcomers.invite(id)
        case .refuser: refusers.invite(id)
        }
    }

    /// Records that `id` refuses a token of ours.
    mutating func refuse(_ id: SubjectID, at now: UnixTime) {
        newcomers.forget(id)
        guard let rank = out.removeValue(forKey: id)?.rank else { return }
        refused[id] = now
        switch rank {
        case .established: break
        case .newcomer: newcomers.fail(id, at: now)
        case .refuser: refusers.fail(id, at: now)
        }
    }

    /// Begins again at once, after a change that may have fixed the failure.
    mutating func hurry(at now: UnixTime) {
        (chosen, out, refused) = ([:], [:], [:])
        start = now
        newcomers.hurry(at: now)
        refusers.hurry(at: now)
    }

    /// Returns the verdict of the users who have had their tokens for `window` microseconds; nil if there are none.
    mutating func verdict(at now: UnixTime, window: Int64) -> Verdict? {
        let accepted = out.filter { now.microseconds(since: $0.value.since) >= window }
        guard !accepted.isEmpty else { return nil }
        // The refusals of earlier rounds prove nothing about the present.
        refused = refused.filter { now.microseconds(since: $0.value) < Rounds.product(window, 2) }
        guard accepted.count <= refused.count else { return .accepted }
        for id in accepted.keys { out[id] = nil }
        return .divided(accepted: Set(accepted.keys), refused: refused.count)
    }
}

/// The rounds in which users of one rank test the key.
private struct Rounds: Sendable {
    /// The growth of the wait: 1, 2, 4, 8, then 15 times the first wait.
    private static let steps: [Int64] = [1, 2, 4, 8, 15]
    /// The maximum number of users who are remembered in the order of their appearance.
    private static let most = 100_000

    let size: Int
    /// The first wait, in microseconds.
    let wait: Int64
    /// The start of the next round; nil as long as no user of this round has refused.
    private(set) var due: UnixTime?
    /// The users who have not tested, with the time from which each is known.
    private var waiting: [SubjectID: UnixTime] = [:]
    /// The users who test whenever they come. So a user whose event is in a retry tier loses no turn.
    private var invited: Set<SubjectID> = []
    /// The number of users who test in this round without an invitation.
    private var places = 0
    private var refused: Set<SubjectID> = []
    private var failures = 0

    init(size: Int, wait: Int64, at now: UnixTime) {
        self.size = size
        self.wait = wait
        due = now.advanced(byMicroseconds: wait)
    }

    mutating func choose(_ id: SubjectID, firstSeen: UnixTime, at now: UnixTime) -> Bool {
        if let due, due <= now { begin() }
        if invited.remove(id) != nil { return true }
        if places > 0, !refused.contains(id) {
            places -= 1
            waiting[id] = nil
            return true
        }
        if waiting[id] == nil, waiting.count < Self.most { waiting[id] = firstSeen }
        return false
    }

    private mutating func begin() {
        let first = waiting.sorted { ($0.value.microseconds, $0.key.high) < ($1.value.microseconds, $1.key.high) }
            .prefix(size)
        for (id, _) in first {
            invited.insert(id)
            waiting[id] = nil
        }
        // Those who were first may come late, so that one place is for the next user.
        places = max(1, size - first.count)
        refused = []
        due = nil
    }

    mutating func invite(_ id: SubjectID) { invited.insert(id) }

    mutating func forget(_ id: SubjectID) {
        waiting[id] = nil
        invited.remove(id)
    }

    /// Records that `id` refused its token. One user alone makes no wait longer.
    mutating func fail(_ id: SubjectID, at now: UnixTime) {
        refused.insert(id)
        if refused.count == min(2, size) { failures += 1 }
        if refused.count <= min(2, size) {
            due = now.advanced(byMicroseconds: Self.product(wait, Self.steps[min(failures, Self.steps.count - 1)]))
        }
    }

    mutating func hurry(at now: UnixTime) {
        failures = 0
        due = now
    }

    static func product(_ length: Int64, _ factor: Int64) -> Int64 {
        let (product, isTooLong) = length.multipliedReportingOverflow(by: factor)
        return isTooLong ? .max : product
    }
}
