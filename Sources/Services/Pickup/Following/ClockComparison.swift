import AdapterKit

/// The difference between the gateway's clock and the clocks that date the token topic's records. A value without a
/// clock.
///
/// The gateway judges sessions and tokens by its own clock. A wrong clock refuses valid sessions, and hands out expired
/// tokens. One record that agrees clears the difference, because one worker's clock may be the wrong one.
struct ClockComparison: Sendable {
    /// The largest difference, in microseconds, that a record's delay explains.
    private static let bound: Int64 = 300_000_000
    /// The number of records in a row that must differ.
    private static let records = 3
    /// The time for which they count without another record, in microseconds.
    private static let memory: Int64 = 600_000_000

    private var differing: (count: Int, by: Int64, at: UnixTime)?

    /// Records that a record was published at the time `published`, by its writer's or a broker's clock, and read at
    /// the time `now`.
    mutating func record(_ published: UnixTime, at now: UnixTime) {
        let difference = now.microseconds(since: published)
        guard difference.magnitude > UInt64(Self.bound) else {
            differing = nil
            return
        }
        differing = ((differing?.count ?? 0) + 1, difference, now)
    }

    /// Returns the lead of this clock in microseconds, negative where it is behind; nil where the clocks agree or it is
    /// unknown.
    func difference(at now: UnixTime) -> Int64? {
        guard let differing, differing.count >= Self.records,
            now.microseconds(since: differing.at).magnitude <= UInt64(Self.memory)
        else { return nil }
        return differing.by
    }
}
