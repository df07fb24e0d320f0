/// The settled batches that are not committed: the ready ones and those of the current commit.
struct EndedBatches: Sendable {
    /// The current commit.
    private enum Commit {
        /// No commit is running.
        case idle
        /// A commit that accepts more batches.
        case open(CommitUnit)
        /// A commit that is complete.
        case closed(CommitUnit)
    }

    private(set) var ready: [Batch] = []
    private var commit = Commit.idle

    /// The unit of the current commit; nil for none.
    var committing: CommitUnit? {
        switch commit {
        case .idle: nil
        case .open(let unit), .closed(let unit): unit
        }
    }

    /// The unit of the current commit if it accepts more batches; nil otherwise.
    var growing: CommitUnit? { if case .open(let unit) = commit { unit } else { nil } }

    /// The number of ready events.
    var readyCount: Int { ready.reduce(0) { $0 + $1.records.count } }
    /// The memory of all events, in bytes.
    var memory: Int { (ready + (committing?.batches ?? [])).reduce(0) { $0 + $1.memory } }
    var isEmpty: Bool { ready.isEmpty && committing == nil }

    mutating func append(_ batch: Batch) { ready.append(batch) }

    /// Returns a unit of the ready batches. Its offsets also cover the current commit.
    ///
    /// - Parameter progress: the progress up to the last finished commit.
    func addition(to progress: PerLane<PartitionProgress>) -> CommitUnit {
        var ended = progress
        for batch in (committing?.batches ?? []) + ready {
            for record in batch.records { ended[record.lane].finished(record.origin) }
        }
        return CommitUnit(batches: ready, offsets: PerLane { ended[$0].committable })
    }

    /// Begins a commit of the ready batches.
    mutating func begin(_ progress: PerLane<PartitionProgress>) -> CommitUnit {
        let transaction = addition(to: progress)
        (ready, commit) = ([], .open(transaction))
        return transaction
    }

    /// Moves the ready batches, as the unit `addition`, to the current commit.
    ///
    /// - Returns: Whether it did; false if no commit accepts additions.
    mutating func join(_ addition: CommitUnit) -> Bool {
        guard case .open(var unit) = commit else { return false }
        // One owner at a time, so that nothing is copied.
        commit = .idle
        unit.add(addition)
        (ready, commit) = ([], .open(unit))
        return true
    }

    /// Closes the current commit: it accepts no more batches.
    mutating func close() { if case .open(let unit) = commit { commit = .closed(unit) } }

    /// Ends the current commit, successful or not.
    mutating func end() -> CommitUnit? {
        defer { commit = .idle }
        return committing
    }

    /// Drops the ready batches; their events are processed again.
    mutating func dropReady() { ready = [] }
}
