import AdapterKit

/// Asks that no worker answered, while nothing else of any worker came. A value without a clock.
///
/// A worker that hangs, cannot publish, or was killed a moment ago is still in its group.
struct UnansweredAsks: Sendable {
    /// So many users must have waited in vain: of one the event may be a special one.
    private static let users = 5
    /// For how long they count without another one: whoever is not ready is asked nothing.
    private static let memory: Int64 = 60_000_000

    private var keys: Set<[UInt8]> = []
    private var first = UnixTime(seconds: 0)
    private var last = UnixTime(seconds: 0)

    /// Records that an ask for the subject `key` was sent at `sent` and not answered by `now`.
    mutating func missed(_ key: [UInt8], sent: UnixTime, at now: UnixTime) {
        if keys.isEmpty || now.microseconds(since: last) > Self.memory { (keys, first) = ([], sent) }
        last = now
        if keys.count < Self.users { keys.insert(key) }
    }

    /// Records that a worker published something.
    mutating func answered() {
        if !keys.isEmpty { keys = [] }
    }

    /// Returns the moment from which no worker answers, at the time `now`; nil where one does or nobody knows.
    func since(at now: UnixTime) -> UnixTime? {
        keys.count >= Self.users && now.microseconds(since: last) <= Self.memory ? first : nil
    }
}
