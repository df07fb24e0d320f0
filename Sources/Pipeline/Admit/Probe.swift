import AdapterKit

/// One event of a suspended app, now and then, that gets a token: where it is not refused, the vendor accepts our tokens again.
///
/// Users who refused a token are no candidates as long as there are others: after two waits in which no other user's event came,
/// one of them is let through, or an app whose every user refused would never resume.
struct Probe: Sendable, Equatable {
    /// The wait's growth: 1, 2, 4, 8, then 15 times the first.
    private static let steps: [Int64] = [1, 2, 4, 8, 15]

    /// The state of a probe.
    private enum Phase: Equatable {
        /// The next one may be let through when it is due.
        case waiting
        /// One was let through in this batch, and has no token yet.
        case chosen(isRefuser: Bool)
        /// It has got its token.
        case out(SubjectID, isRefuser: Bool, since: UnixTime)
    }

    /// The first wait, in microseconds.
    private let firstWait: Int64
    private var phase = Phase.waiting
    /// The moment from which a user who has not refused may be the probe.
    private var due: UnixTime
    /// The moment from which a user who has refused may be.
    private var dueForRefusers: UnixTime
    private var failures = 0
    private var refusersFailures = 0

    /// A probe that is due after the first wait.
    init(firstWait: Int64, at now: UnixTime) {
        self.firstWait = firstWait
        due = now.advanced(byMicroseconds: firstWait)
        dueForRefusers = now.advanced(byMicroseconds: Self.length(2, firstWait))
    }

    /// Whether an event may be let through now, of a user who refused a token or of one who did not.
    func isDue(isRefuser: Bool, at now: UnixTime) -> Bool {
        phase == .waiting && (isRefuser ? dueForRefusers : due) <= now
    }

    /// An event is let through.
    mutating func choose(isRefuser: Bool) { phase = .chosen(isRefuser: isRefuser) }

    /// The event got its token.
    mutating func send(to id: SubjectID, at now: UnixTime) {
        if case .chosen(let isRefuser) = phase { phase = .out(id, isRefuser: isRefuser, since: now) }
    }

    /// The event got no token, or one that was not published: the next event is let through.
    mutating func giveBack() { phase = .waiting }

    /// An event was let through and got no token.
    mutating func release() { if case .chosen = phase { phase = .waiting } }

    /// Whether the probe's token went to `id`.
    func isOut(to id: SubjectID) -> Bool { if case .out(id, _, _) = phase { true } else { false } }

    /// The probe's token was refused: the next waits longer. A user who refused before shows nothing new, so that others wait
    /// no longer for it.
    mutating func fail(at now: UnixTime) {
        guard case .out(_, let isRefuser, _) = phase else { return }
        phase = .waiting
        if isRefuser {
            refusersFailures += 1
        } else {
            failures += 1
            due = now.advanced(byMicroseconds: Self.length(Self.step(failures), firstWait))
        }
        let step = Self.step(max(failures, refusersFailures))
        dueForRefusers = now.advanced(byMicroseconds: Self.length(2 * step, firstWait))
    }

    /// Something changed that may have fixed it: the next event is let through at once.
    mutating func hurry(at now: UnixTime) {
        failures = 0
        refusersFailures = 0
        due = now
        dueForRefusers = now
        phase = .waiting
    }

    /// Whether the probe's token was published `window` microseconds ago and was not refused.
    func hasPassed(at now: UnixTime, window: Int64) -> Bool {
        if case .out(_, _, let since) = phase { now.microseconds(since: since) >= window } else { false }
    }

    private static func step(_ failures: Int) -> Int64 { steps[min(failures, steps.count - 1)] }

    private static func length(_ factor: Int64, _ firstWait: Int64) -> Int64 {
        let (length, isTooLong) = firstWait.multipliedReportingOverflow(by: factor)
        return isTooLong ? .max : length
    }
}
