/// The last token of each of the most recent subjects, in bounded memory.
///
/// Two generations of an open-addressing table: when the young one is full, the old one is forgotten and the young one
/// becomes the old. So the latest `capacity` subjects are always remembered, and never more than twice as many. A table
/// is at most four fifths full, so a remembered subject costs at most 80 bytes, and a subject of the capacity 160.
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
    mutating func remember(_ mint: RecentMint, inBatch number: Int) {
        guard capacity > 0 else { return }
        var before = RecentMint.none
        before.id = mint.id
        changes.append((last(of: mint.id) ?? before, number))
        insert(mint)
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

/// A table of mints by subject, with linear probing. Entries are never removed one by one.
struct MintTable: Sendable {
    private var places: [RecentMint] = []
    private(set) var count = 0

    init() {}

    var bytes: Int { places.capacity * MemoryLayout<RecentMint>.stride }

    private static func places(for capacity: Int) -> Int { capacity + capacity / 4 + 1 }

    subscript(id: SubjectID) -> RecentMint? {
        guard !places.isEmpty else { return nil }
        let mint = places[place(of: id)]
        return mint.id == id ? mint : nil
    }

    mutating func insert(_ mint: RecentMint, limit: Int) {
        if !places.isEmpty {
            let place = place(of: mint.id)
            let isNew = places[place].id != mint.id
            if !isNew || (count + 1) * 5 <= places.count * 4 {
                count += isNew ? 1 : 0
                places[place] = mint
                return
            }
        }
        grow(limit: limit)
        count += 1
        places[place(of: mint.id)] = mint
    }

    /// Forgets every mint, and makes the table large enough for `capacity`: it need not grow to that again.
    mutating func clear(for capacity: Int) {
        count = 0
        if places.count == Self.places(for: capacity) {
            for index in places.indices { places[index] = .none }
        } else {
            places = []
            places = Array(repeating: .none, count: Self.places(for: capacity))
        }
    }

    /// Doubles, up to what `limit` mints need.
    private mutating func grow(limit: Int) {
        let wanted = Self.places(for: max(min(max(64, count * 2), limit), count + 1))
        let mints = places
        places = Array(repeating: .none, count: wanted)
        for mint in mints where mint.id != RecentMint.none.id { places[place(of: mint.id)] = mint }
    }

    /// Where `id` stands, or would.
    private func place(of id: SubjectID) -> Int {
        // The ids are evenly spread already; the product's upper half maps them onto the places (Lemire 2018).
        var index = Int(id.high.multipliedFullWidth(by: UInt64(places.count)).high)
        while places[index].id != id, places[index].id != RecentMint.none.id {
            index = index + 1 == places.count ? 0 : index + 1
        }
        return index
    }
}
