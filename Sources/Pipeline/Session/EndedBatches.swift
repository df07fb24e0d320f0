/// The batches that came to their ends and are not committed: those that are ready, and the transaction under way.
struct EndedBatches: Sendable {
    /// The commit under way.
    private enum Commit {
        /// There is none.
        case idle
        /// One that may be added to.
        case open(CommitUnit)
        /// One that is complete.
        case closed(CommitUnit)
    }

    private(set) var ready: [Batch] = []
    private var commit = Commit.idle

    /// The unit that is being committed; nil for none.
    var committing: CommitUnit? {
        switch commit {
        case .idle: nil
        case .open(let unit), .closed(let unit): unit
        }
    }

    /// The unit that is being committed and may be added to; nil for none.
    var growing: CommitUnit? { if case .open(let unit) = commit { unit } else { nil } }

    /// How many events are ready.
    var readyCount: Int { ready.reduce(0) { $0 + $1.records.count } }
    /// How much memory their events take, in bytes.
    var memory: Int { (ready + (committing?.batches ?? [])).reduce(0) { $0 + $1.memory } }
    var isEmpty: Bool { ready.isEmpty && committing == nil }

    mutating func append(_ batch: Batch) { ready.append(batch) }

    /// What is ready, with the offsets that hold once it is committed behind everything before it.
    ///
    /// - Parameter progress: what was committed.
    func addition(to progress: PerLane<PartitionProgress>) -> CommitUnit {
        var ended = progress
        for batch in (committing?.batches ?? []) + ready {
            for record in batch.records { ended[record.lane].finished(record.origin) }
        }
        return CommitUnit(batches: ready, offsets: PerLane { ended[$0].committable })
    }

    /// A transaction of what is ready begins.
    mutating func begin(_ progress: PerLane<PartitionProgress>) -> CommitUnit {
        let transaction = addition(to: progress)
        (ready, commit) = ([], .open(transaction))
        return transaction
    }

    /// What is ready, put together by `addition`, becomes part of the transaction under way.
    ///
    /// - Returns: whether it did; false where no transaction may be added to.
    mutating func join(_ addition: CommitUnit) -> Bool {
        guard case .open(var unit) = commit else { return false }
        // One owner at a time, so that nothing is copied.
        commit = .idle
        unit.add(addition)
        (ready, commit) = ([], .open(unit))
        return true
    }

    /// Nothing more becomes part of the transaction under way.
    mutating func close() { if case .open(let unit) = commit { commit = .closed(unit) } }

    /// The transaction under way ended, one way or the other.
    mutating func end() -> CommitUnit? {
        defer { commit = .idle }
        return committing
    }

    /// What is ready is taken to its end again.
    mutating func dropReady() { ready = [] }
}
