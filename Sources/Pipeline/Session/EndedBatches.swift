/// The batches that came to their ends and are not committed: those that are ready, and the transaction under way.
struct EndedBatches: Sendable {
    private(set) var ready: [Batch] = []
    private(set) var committing: CommitUnit?
    /// Whether the transaction under way may be added to.
    private(set) var isOpen = false

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
        (ready, committing, isOpen) = ([], transaction, true)
        return transaction
    }

    /// What is ready, put together by `addition`, becomes part of the transaction under way.
    mutating func join(_ addition: CommitUnit) {
        committing?.add(addition)
        ready = []
    }

    /// Nothing more becomes part of the transaction under way.
    mutating func close() { isOpen = false }

    /// The transaction under way ended, one way or the other.
    mutating func end() -> CommitUnit? {
        defer { committing = nil }
        return committing
    }

    /// What is ready is taken to its end again.
    mutating func dropReady() { ready = [] }
}
