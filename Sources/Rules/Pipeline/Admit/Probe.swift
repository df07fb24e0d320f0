import AdapterKit

/// An event of a suspended app that gets a token, to test whether the vendor accepts our tokens again. There is one
/// from time to time.
///
/// Users who refused a token are no candidates as long as there are others. If no other user's event arrives within two
/// waits, one of them becomes the probe. Otherwise, an app whose users all refused would never resume.
struct Probe: Sendable, Equatable {
    /// The growth of the wait: 1, 2, 4, 8, then 15 times the first wait.
    private static let steps: [Int64] = [1, 2, 4, 8, 15]

    /// The state of a probe.
    private enum Phase: Equatable {
        /// The next event may be the probe when it is due.
        case waiting
        /// An event of this batch is the probe, and has no token yet.
        case chosen(isRefuser: Bool)
        /// The probe has its token.
        case out(SubjectID, isRefuser: Bool, since: UnixTime)
    }

    /// The first wait, in microseconds.
    private let firstWait: Int64
    private var phase = Phase.waiting
    /// The earliest time at which a user who has not refused may be the probe.
    private var due: UnixTime
    /// The earliest time at which a user who has refused may be the probe.
    private var dueForRefusers: UnixTime
    private var failures = 0
    private var refusersFailures = 0

    /// Creates a probe that is due after the first wait.
    init(firstWait: Int64, at now: UnixTime) {
        self.firstWait = firstWait
        due = now.advanced(byMicroseconds: firstWait)
        dueForRefusers = now.advanced(byMicroseconds: Self.length(2, firstWait))
    }

    /// Returns whether an event may be the probe now; `isRefuser`: its user refused a token.
    func isDue(isRefuser: Bool, at now: UnixTime) -> Bool {
        phase == .waiting && (isRefuser ? dueForRefusers : due) <= now
    }

    /// The time from which an event may be the probe; nil while there is one.
    var nextDue: UnixTime? { phase == .waiting ? due : nil }

    /// Chooses an event as the probe.
    mutating func choose(isRefuser: Bool) { phase = .chosen(isRefuser: isRefuser) }

    /// Records that the probe got its token.
    mutating func send(to id: SubjectID, at now: UnixTime) {
        if case .chosen(let isRefuser) = phase { phase = .out(id, isRefuser: isRefuser, since: now) }
    }

    /// Records that the probe got no token, or one that was not published. The next event becomes the probe.
    mutating func giveBack() { phase = .waiting }

    /// Releases a chosen event that got no token.
    mutating func release() { if case .chosen = phase { phase = .waiting } }

    /// Returns whether the probe's token went to `id`.
    func isOut(to id: SubjectID) -> Bool { if case .out(id, _, _) = phase { true } else { false } }

    /// Records that the probe's token was refused: the next wait is longer. For a user who refused before, only the
    /// wait of refusing users grows, because the refusal proves nothing new.
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

    /// Makes the next event the probe at once, after a change that may have fixed the failure.
    mutating func hurry(at now: UnixTime) {
        failures = 0
        refusersFailures = 0
        due = now
        dueForRefusers = now
        phase = .waiting
    }

    /// Returns whether the probe's token was published at least `window` microseconds ago and was not refused.
    func hasPassed(at now: UnixTime, window: Int64) -> Bool {
        if case .out(_, _, let since) = phase { now.microseconds(since: since) >= window } else { false }
    }

    private static func step(_ failures: Int) -> Int64 { steps[min(failures, steps.count - 1)] }

    private static func length(_ factor: Int64, _ firstWait: Int64) -> Int64 {
        let (length, isTooLong) = firstWait.multipliedReportingOverflow(by: factor)
        return isTooLong ? .max : length
    }
}
