/// The last token of each of the most recent subjects, in bounded memory.
///
/// Two generations of an open-addressing table: when the young one is full, the old one is forgotten and the young one
/// becomes the old. So the latest `capacity` subjects are always remembered, and never more than twice as many. A table
/// is thirteen sixteenths full at most, so a remembered subject costs 80 bytes in the end, and a subject of the capacity 160.
///
/// What happened since the last `confirm` can be taken back: a token whose transaction was aborted was never published.
struct RecentMints: Sendable {
    /// The most subjects a generation holds.
    let capacity: Int
    private var young: MintTable
    private var old: MintTable
    /// What stood where, before each change since the last confirmation, in their order.
    private var changes: [(mint: RecentMint, batch: Int)] = []

    /// A memory that holds at least the latest `capacity` subjects; with 0 it remembers nothing.
    init(capacity: Int) {
        self.capacity = max(0, capacity)
        young = MintTable()
        old = MintTable()
    }

    /// How many subjects are remembered; one that stands in both generations counts twice.
    var count: Int { young.count + old.count }

    /// The memory's size in bytes.
    var bytes: Int { young.bytes + old.bytes }

    /// The last token of `id`.
    func last(of id: SubjectID) -> RecentMint? {
        guard let mint = young[id] ?? old[id], mint.mintedAt != RecentMint.never else { return nil }
        return mint
    }

    /// Remembers `mint`, which belongs to batch `number`.
    ///
    /// - Returns: the last token of its subject before; nil where none is remembered.
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
            // In the place of the one that is forgotten: three tables at once would be the most the worker ever holds.
            young.clear(for: capacity)
        }
        young.insert(mint, limit: capacity)
    }

    /// The tokens of the batches up to `number` were published: they are not taken back any more.
    mutating func confirm(throughBatch number: Int) {
        let open = changes.firstIndex { $0.batch > number } ?? changes.endIndex
        changes.removeFirst(open)
    }

    /// Takes back everything that is not confirmed.
    mutating func rollBack() {
        // An entry without a time is a subject that was not known before.
        for change in changes.reversed() { insert(change.mint) }
        changes.removeAll()
    }
}
