import AdapterKit

/// Whether a worker is in the group that answers devices, as far as its coordinator says. A value without a clock.
struct WorkerPresence: Sendable, Equatable {
    /// For how long a worker may be away before devices are turned away: the time that a call waits for its token.
    private static let patience: Int64 = 10_000_000

    private var wasSeen = false
    /// The moment from which the group has no member; nil while it has one, and while nobody knows.
    private(set) var emptySince: UnixTime?

    /// Records how many members the group has at the time `now`.
    ///
    /// - Parameter members: nil for a group that brokers do not show: it never was, or this account may not see it. That says something
    ///   only where it had members before.
    mutating func record(members: Int?, at now: UnixTime) {
        guard members == 0 || members == nil && wasSeen else {
            if members != nil { (wasSeen, emptySince) = (true, nil) }
            return
        }
        emptySince = emptySince ?? now
    }

    /// Returns the moment from which no worker is there, at the time `now`; nil while one is, while one may be back in time, and while
    /// nobody knows.
    ///
    /// A group that was empty from the first look on has no worker that is about to be back.
    func absentSince(at now: UnixTime) -> UnixTime? {
        guard let emptySince, !wasSeen || now.microseconds(since: emptySince) >= Self.patience else { return nil }
        return emptySince
    }
}
