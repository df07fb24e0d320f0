import AdapterKit

/// A time in which the vendor refuses every request for its rate. A single refusal is usual, and no trouble.
struct Throttling: Sendable {
    /// The time after which refusals without an answer are trouble, in microseconds.
    private static let longest: Int64 = 5_000_000

    private var since: UnixTime?
    /// Whether the refusals have lasted for long enough to be reported.
    private(set) var isLong = false

    /// Records a refusal.
    ///
    /// - Returns: whether this one makes the time too long.
    mutating func refused(at now: UnixTime) -> Bool {
        let start = since ?? now
        since = start
        guard !isLong, now.microseconds(since: start) >= Self.longest else { return false }
        isLong = true
        return true
    }

    /// Records an answer.
    ///
    /// - Returns: the length of the time, in microseconds, if it was reported; nil otherwise.
    mutating func ended(at now: UnixTime) -> Int64? {
        defer { self = Throttling() }
        return isLong ? since.map { max(0, now.microseconds(since: $0)) } : nil
    }
}
