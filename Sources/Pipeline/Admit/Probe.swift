import AdapterKit

/// One event of a suspended app, now and then, that gets a token: where it is not refused, the vendor takes our tokens again.
struct Probe: Sendable, Equatable {
    /// How often the wait doubles: 1, 2, 4, 8, then 15 times the first.
    private static let steps: [Int64] = [1, 2, 4, 8, 15]

    /// What a probe is, or waits for.
    private enum Phase: Equatable {
        /// The next one may be let through from this moment on.
        case due(UnixTime)
        /// One was let through in this batch, and has no token yet.
        case chosen
        /// It has got its token.
        case out(SubjectID, since: UnixTime)
    }

    /// The first wait, in microseconds.
    private let firstWait: Int64
    private var phase: Phase
    private var failures = 0

    /// A probe that is due after the first wait.
    init(firstWait: Int64, at now: UnixTime) {
        self.firstWait = firstWait
        phase = .due(now.advanced(byMicroseconds: firstWait))
    }

    /// Whether an event may be let through now.
    func isDue(at now: UnixTime) -> Bool { if case .due(let moment) = phase { moment <= now } else { false } }

    /// An event is let through.
    mutating func choose() { phase = .chosen }

    /// The event got its token.
    mutating func send(to id: SubjectID, at now: UnixTime) { phase = .out(id, since: now) }

    /// Whatever was let through got no token, or one that was not published: the next event is let through.
    mutating func giveBack(at now: UnixTime) {
        switch phase {
        case .chosen, .out: phase = .due(now)
        case .due: break
        }
    }

    /// An event was let through and got no token.
    mutating func release(at now: UnixTime) { if phase == .chosen { phase = .due(now) } }

    /// Whether the probe's token went to `id`.
    func isOut(to id: SubjectID) -> Bool { if case .out(id, _) = phase { true } else { false } }

    /// The probe's token was refused: the next waits longer.
    mutating func fail(at now: UnixTime) {
        failures += 1
        let factor = Self.steps[min(failures, Self.steps.count - 1)]
        phase = .due(now.advanced(byMicroseconds: firstWait.multipliedReportingOverflow(by: factor).partialValue))
    }

    /// Something changed that may have mended it: the next event is let through at once.
    mutating func hurry(at now: UnixTime) {
        failures = 0
        phase = .due(now)
    }

    /// Whether the probe's token was published `window` microseconds ago and was not refused.
    func hasPassed(at now: UnixTime, window: Int64) -> Bool {
        if case .out(_, let since) = phase { now.microseconds(since: since) >= window } else { false }
    }
}
