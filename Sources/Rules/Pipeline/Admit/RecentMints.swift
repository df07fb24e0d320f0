/// The latest token of each of the most recent subjects, in bounded memory.
///
/// The memory has two generations of an open-addressing table. When the young one is full, it replaces the old one,
/// which is dropped. So the latest `capacity` subjects are always remembered, and at most twice as many. A table is at
/// most 13/16 full, so a remembered subject costs 80 bytes, and a subject of the capacity 160.
///
/// Changes since the last `confirm` can be rolled back: the token of an aborted transaction was never published.
struct RecentMints: Sendable {
    /// The maximum number of subjects in a generation.
    let capacity: Int
    private var young: MintTable
    private var old: MintTable
    /// The previous entries of all changes since the last confirmation, in order.
    private var changes: [(mint: RecentMint, batch: Int)] = []

    /// Creates a memory of at least the latest `capacity` subjects; 0 turns it off.
    init(capacity: Int) {
        self.capacity = max(0, capacity)
        young = MintTable()
        old = MintTable()
    }

    /// The number of remembered subjects; a subject in both generations counts twice.
    var count: Int { young.count + old.count }

    /// The memory's size in bytes.
    var bytes: Int { young.bytes + old.bytes }

    /// Returns the latest token of `id`; nil if none is remembered.
    func last(of id: SubjectID) -> RecentMint? {
        guard let mint = young[id] ?? old[id], mint.mintedAt != RecentMint.never else { return nil }
        return mint
    }

    /// Remembers `mint`, which belongs to batch `number`.
    ///
    /// - Returns: the subject's previous token; nil if none is remembered.
    @discardableResult
    mutating func remember(_ mint: RecentMint, inBatch number: Int) -> RecentMint? {
        guard capacity > 0 else { return nil }
        let last = last(of: mint.id)
        var before = RecentMint.none
        before.id = mint.id
        changes.append((last ?? before, number))
        insert(mint)
        return last
    }

    private mutating func insert(_ mint: RecentMint) {
        if young.count >= capacity, young[mint.id] == nil {
            swap(&old, &young)
            // Reuse the dropped table: a third table would be the worker's peak memory.
            young.clear(for: capacity)
        }
        young.insert(mint, limit: capacity)
    }

    /// Confirms the tokens of the batches up to `number`, which were published: they are not rolled back any more.
    mutating func confirm(throughBatch number: Int) {
        let open = changes.firstIndex { $0.batch > number } ?? changes.endIndex
        changes.removeFirst(open)
    }

    /// Rolls back all unconfirmed changes.
    mutating func rollBack() {
        // An entry without a time is a subject that was unknown before.
        for change in changes.reversed() { insert(change.mint) }
        changes.removeAll()
    }
}
