import AdapterKit

/// The gateway's clock beside those that date the token topic's records. A value without a clock.
///
/// Sessions and tokens are judged by the gateway's clock: where it is wrong, sessions are refused that are good, and tokens are handed out
/// that have ended. One record that agrees is enough: one worker's clock may be the wrong one.
struct ClockComparison: Sendable {
    /// A larger difference is no delay of a record on its way.
    private static let bound: Int64 = 300_000_000
    /// So many records in a row must differ.
    private static let records = 3
    /// For how long they count without another record.
    private static let memory: Int64 = 600_000_000

    private var differing: (count: Int, by: Int64, at: UnixTime)?

    /// Records that a record was published at the time `published`, by whoever dates records, and read at the time `now`.
    mutating func record(_ published: UnixTime, at now: UnixTime) {
        let difference = now.microseconds(since: published)
        guard difference.magnitude > UInt64(Self.bound) else {
            differing = nil
            return
        }
        differing = ((differing?.count ?? 0) + 1, difference, now)
    }

    /// By how much this clock is ahead, in microseconds, or behind where it is negative; nil where it agrees or nobody knows.
    func difference(at now: UnixTime) -> Int64? {
        guard let differing, differing.count >= Self.records,
            now.microseconds(since: differing.at).magnitude <= UInt64(Self.memory)
        else { return nil }
        return differing.by
    }
}
