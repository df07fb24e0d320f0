import AdapterKit

/// The presence of workers in the group that answers devices, as its coordinator reports it. A value without a clock.
struct WorkerPresence: Sendable, Equatable {
    /// The time for which workers may be away before devices are turned away, in microseconds: the time that a call
    /// waits for its token.
    private static let patience: Int64 = 10_000_000

    private var wasSeen = false
    /// The moment from which the group has no member; nil while it has one, or while it is unknown.
    private(set) var emptySince: UnixTime?

    /// Records the number of the group's members at the time `now`.
    ///
    /// - Parameter members: nil for a group that brokers do not show: it never existed, or this account may not see it.
    ///   That counts as empty only where the group had members before.
    mutating func record(members: Int?, at now: UnixTime) {
        guard members == 0 || members == nil && wasSeen else {
            if members != nil { (wasSeen, emptySince) = (true, nil) }
            return
        }
        emptySince = emptySince ?? now
    }

    /// Returns the moment from which no worker is there, at the time `now`; nil while one is, while one may be back in
    /// time, or while it is unknown.
    ///
    /// A group that was empty from the first reading on has no worker that may soon be back.
    func absentSince(at now: UnixTime) -> UnixTime? {
        guard let emptySince, !wasSeen || now.microseconds(since: emptySince) >= Self.patience else { return nil }
        return emptySince
    }
}
