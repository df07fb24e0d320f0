import AdapterKit

/// The presence of workers in the group that answers devices, as its coordinator reports it. A value without a clock.
struct WorkerPresence: Sendable, Equatable {
    /// The brokers' description of the group.
    enum Reading: Sendable, Equatable {
        /// The group has this number of members.
        case members(Int)
        /// The group does not exist.
        case none
        /// The brokers do not show the group: it does not exist, or this account may not see it.
        case hidden
    }

    /// The time for which workers may be away before devices are turned away, in microseconds: the time that a call
    /// waits for its token.
    private static let timeout: Int64 = 10_000_000

    private var hadMembers = false
    /// True if the group has existed, so that an empty group means that its workers have left.
    private var existed = false
    /// Whether the brokers describe the group.
    private(set) var isKnown = false
    /// The moment from which the group has no member; nil while it has one, or while it is unknown.
    private(set) var emptySince: UnixTime?

    /// Records the description of the group at the time `now`. A group that is hidden counts as empty only where it had
    /// members before.
    mutating func record(_ reading: Reading, at now: UnixTime) {
        switch reading {
        case .members(let count):
            (existed, isKnown) = (true, true)
            if count > 0 { (hadMembers, emptySince) = (true, nil) } else { emptySince = emptySince ?? now }
        case .none:
            isKnown = true
            emptySince = emptySince ?? now
        case .hidden:
            isKnown = hadMembers
            emptySince = hadMembers ? emptySince ?? now : nil
        }
    }

    /// Returns the moment from which no worker is there, at the time `now`; nil while one is, while one may be back in
    /// time, or while it is unknown.
    ///
    /// A group that was empty from the first reading on has no worker that may soon be back. One that never existed may
    /// be about to begin.
    func absentSince(at now: UnixTime) -> UnixTime? {
        guard let emptySince, existed && !hadMembers || now.microseconds(since: emptySince) >= Self.timeout else {
            return nil
        }
        return emptySince
    }
}
