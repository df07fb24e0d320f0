import AdapterKit

/// Asks that no worker answered, while workers published nothing else. A value without a clock.
///
/// A worker that hangs, cannot publish, or was killed a moment ago is still in its group.
struct UnansweredAsks: Sendable {
    /// The number of users that must have waited in vain; a single user's event may be a special one.
    private static let users = 5
    /// The time for which they count without another one, in microseconds: a gateway that is not ready gets no asks.
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

    /// Returns the moment from which no worker answers, at the time `now`; nil where one does or it is unknown.
    func since(at now: UnixTime) -> UnixTime? {
        keys.count >= Self.users && now.microseconds(since: last) <= Self.memory ? first : nil
    }
}
