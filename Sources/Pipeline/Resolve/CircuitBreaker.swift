import AdapterKit

/// Leaves a vendor alone that does not work: after some failures in a row nothing is asked for a while, then one request
/// tries. The while doubles with each try that fails.
struct CircuitBreaker: Sendable {
    /// What a metric says of it.
    enum State: String, Sendable, CaseIterable {
        case closed
        case halfOpen = "half_open"
        case open
    }

    private enum Condition: Sendable {
        case closed(failures: Int)
        case open(until: UnixTime, times: Int)
        case probing(times: Int)
    }

    /// After how many failures in a row it opens.
    private static let failuresToOpen = 5
    /// The first while, and the longest, in microseconds.
    private static let whiles = (first: Int64(2_000_000), longest: Int64(30_000_000))

    private var condition = Condition.closed(failures: 0)
    /// The first of the failures in a row; nil after a success.
    private var failingSince: UnixTime?

    func state(at now: UnixTime) -> State {
        switch condition {
        case .closed: .closed
        case .open(let until, _): until <= now ? .halfOpen : .open
        case .probing: .halfOpen
        }
    }

    /// When a request may begin; nil while one is trying.
    func opening(at now: UnixTime) -> UnixTime? {
        switch condition {
        case .closed: now
        case .open(let until, _): until
        case .probing: nil
        }
    }

    /// A request begins.
    mutating func begin() {
        if case .open(_, let times) = condition { condition = .probing(times: times) }
    }

    /// The vendor answered.
    ///
    /// - Returns: how long it had failed, in microseconds, where the circuit closed just now.
    mutating func succeeded(at now: UnixTime) -> Int64? {
        let length = failingSince.map { max(0, now.microseconds(since: $0)) } ?? 0
        failingSince = nil
        defer { condition = .closed(failures: 0) }
        if case .closed = condition { return nil }
        return length
    }

    /// The vendor did not answer as it should.
    ///
    /// - Parameter isCertain: whether the next request would fail as well, so that it opens at once.
    /// - Returns: whether it opened just now.
    mutating func failed(
        at now: UnixTime, isCertain: Bool, random: inout some RandomNumberGenerator
    ) -> Bool {
        if failingSince == nil { failingSince = now }
        switch condition {
        case .closed(let failures):
            guard isCertain || failures + 1 >= Self.failuresToOpen else {
                condition = .closed(failures: failures + 1)
                return false
            }
            open(at: now, times: 0, random: &random)
            return true
        // One that was under way when it opened tells nothing new.
        case .open: return false
        case .probing(let times):
            open(at: now, times: times + 1, random: &random)
            return false
        }
    }

    private mutating func open(at now: UnixTime, times: Int, random: inout some RandomNumberGenerator) {
        let longest = min(Self.whiles.longest, Self.whiles.first << Int64(min(times, 10)))
        // Many workers must not come back together.
        let length = Int64.random(in: (longest / 2)...longest, using: &random)
        condition = .open(until: now.advanced(byMicroseconds: length), times: times)
    }
}
