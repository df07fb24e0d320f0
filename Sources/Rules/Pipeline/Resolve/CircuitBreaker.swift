import AdapterKit

/// Stops requests to a failing vendor: after some failures in a row, the circuit opens for a pause, and then one
/// request tests the vendor. The pause doubles with each failed test.
struct CircuitBreaker: Sendable {
    /// The state of the circuit, for metrics.
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

    /// The number of failures in a row that opens the circuit.
    private static let failuresToOpen = 5
    /// The first and the longest pause, in microseconds.
    private static let whiles = (first: Int64(2_000_000), longest: Int64(30_000_000))

    private var condition = Condition.closed(failures: 0)
    /// The time of the first failure in a row; nil after a success.
    private var failingSince: UnixTime?

    func state(at now: UnixTime) -> State {
        switch condition {
        case .closed: .closed
        case .open(let until, _): until <= now ? .halfOpen : .open
        case .probing: .halfOpen
        }
    }

    /// Returns the time at which a request may begin; nil while a test request is in flight.
    func opening(at now: UnixTime) -> UnixTime? {
        switch condition {
        case .closed: now
        case .open(let until, _): until
        case .probing: nil
        }
    }

    /// Records that a request begins.
    mutating func begin() {
        if case .open(_, let times) = condition { condition = .probing(times: times) }
    }

    /// Records a success.
    ///
    /// - Returns: the time since the first failure, in microseconds, if this closed the circuit; nil otherwise.
    mutating func succeeded(at now: UnixTime) -> Int64? {
        let length = failingSince.map { max(0, now.microseconds(since: $0)) } ?? 0
        failingSince = nil
        defer { condition = .closed(failures: 0) }
        if case .closed = condition { return nil }
        return length
    }

    /// Records a failure.
    ///
    /// - Parameter isCertain: whether the next request would fail too, so that the circuit opens at once.
    /// - Returns: whether this opened the circuit.
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
        // A request that was in flight when the circuit opened.
        case .open: return false
        case .probing(let times):
            open(at: now, times: times + 1, random: &random)
            return false
        }
    }

    private mutating func open(at now: UnixTime, times: Int, random: inout some RandomNumberGenerator) {
        let longest = min(Self.whiles.longest, Self.whiles.first << Int64(min(times, 10)))
        // Many workers must not return at the same time.
        let length = Int64.random(in: (longest / 2)...longest, using: &random)
        condition = .open(until: now.advanced(byMicroseconds: length), times: times)
    }
}
