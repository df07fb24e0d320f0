import AdapterKit

/// The latest token of each of the most recent subjects, in bounded memory.
///
/// The memory has two generations of an open-addressing table. When the young one is full, it replaces the old one,
/// which is dropped. So the latest `capacity` subjects are always remembered, and at most twice as many. A table is at
/// most 13/16 full, so a remembered subject costs 80 bytes, and a subject of the capacity 160.
///
/// Changes since the last `confirm` can be rolled back: the token of an aborted transaction was never published.
struct RecentMints: Sendable {
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

    mutating func rollBack() {
        // An entry without a time is a subject that was unknown before.
        for change in changes.reversed() { insert(change.mint) }
        changes.removeAll()
    }
}

/// A subject's latest token. The entry has 64 bytes, so that a million users fit into memory.
struct RecentMint: Sendable, Equatable {
    var id: SubjectID
    /// The time of the mint; `never` for a subject whose token was rolled back.
    var mintedAt: UnixTime
    /// The first eight bytes of the SHA-256 of the token.
    var token: UInt64
    /// The same bytes of the tokens that it replaced, the latest first; zero for none.
    var replaced: (UInt64, UInt64)
    /// The expiry, in seconds since 1970.
    var expiresAt: UInt32
    /// The fingerprint of the key that signed the token and of the number of its app's resumptions.
    var keyPrint: UInt32
    /// The fingerprint of the device that requested the token; zero if the event named none.
    var device: UInt32
    /// The number of tokens in a row that were minted because the one before was refused.
    var streak: UInt8
    /// The number of tokens in a row that were minted with at most the loop window between them.
    var recent: UInt8
    /// The finding that the token answers: `expired` for a wrong clock, `revoked`, or `none`.
    var answers: Evidence

    /// The time that stands for no token.
    static let never = UnixTime(microseconds: .min)

    static let none = RecentMint(
        id: SubjectID(high: 0, low: 0), mintedAt: never, token: 0, replaced: (0, 0), expiresAt: 0, keyPrint: 0,
        device: 0, streak: 0, recent: 0, answers: .none)

    /// Returns whether this token replaced `token`.
    func hasReplaced(_ token: UInt64) -> Bool { token != 0 && (replaced.0 == token || replaced.1 == token) }

    /// Returns whether `time` is at most `window` microseconds after the mint.
    func isWithin(_ window: Int64, of time: UnixTime) -> Bool { time.microseconds(since: mintedAt) <= window }

    static func == (left: RecentMint, right: RecentMint) -> Bool {
        left.id == right.id && left.mintedAt == right.mintedAt && left.token == right.token
            && left.replaced == right.replaced && left.expiresAt == right.expiresAt && left.keyPrint == right.keyPrint
            && left.device == right.device && left.streak == right.streak && left.recent == right.recent
            && left.answers == right.answers
    }
}

/// A hash table of mints by subject, with linear probing. It does not remove single entries.
///
/// One byte per place distinguishes free places from used ones, and almost all wrong entries from the wanted one. The
/// bytes of a million subjects fit into the processor's cache; their mints do not. A look-up of a subject that is not
/// remembered, as most subjects with an expired token are, reads only the bytes.
private struct MintTable: Sendable {
    private var places: [RecentMint] = []
    /// The fingerprint of the subject at each place; zero for a free place.
    private var fingerprints: [UInt8] = []
    private(set) var count = 0

    init() {}

    var bytes: Int { places.capacity * MemoryLayout<RecentMint>.stride + fingerprints.capacity }

    /// Returns the number of places of which `capacity` mints fill 13/16.
    private static func places(for capacity: Int) -> Int { capacity + capacity * 3 / 13 + 1 }

    subscript(id: SubjectID) -> RecentMint? {
        guard !places.isEmpty else { return nil }
        let place = place(of: id)
        return fingerprints[place] == 0 ? nil : places[place]
    }

    mutating func insert(_ mint: RecentMint, limit: Int) {
        if !places.isEmpty {
            let place = place(of: mint.id)
            let isNew = fingerprints[place] == 0
            if !isNew || (count + 1) * 16 <= places.count * 13 {
                count += isNew ? 1 : 0
                put(mint, at: place)
                return
            }
        }
        grow(limit: limit)
        count += 1
        put(mint, at: place(of: mint.id))
    }

    /// Removes all mints, and makes the table large enough for `capacity` mints.
    mutating func clear(for capacity: Int) {
        count = 0
        if places.count == Self.places(for: capacity) {
            // Without their fingerprints, the entries are unreachable.
            for index in fingerprints.indices { fingerprints[index] = 0 }
        } else {
            // Free the old places first: with the other generation's, they would be a third table.
            places = []
            makePlaces(Self.places(for: capacity))
        }
    }

    /// Doubles the table, up to the size for `limit` mints.
    private mutating func grow(limit: Int) {
        let mints = places
        let taken = fingerprints
        makePlaces(Self.places(for: max(min(max(64, count * 2), limit), count + 1)))
        for index in mints.indices where taken[index] != 0 { put(mints[index], at: place(of: mints[index].id)) }
    }

    private mutating func makePlaces(_ count: Int) {
        places = Array(repeating: .none, count: count)
        fingerprints = Array(repeating: 0, count: count)
    }

    private mutating func put(_ mint: RecentMint, at place: Int) {
        places[place] = mint
        fingerprints[place] = Self.fingerprint(of: mint.id)
    }

    /// Returns the place of `id`, or the free place for it.
    private func place(of id: SubjectID) -> Int {
        let fingerprint = Self.fingerprint(of: id)
        // The ids are evenly spread already. The product's upper half maps them to the places (Lemire 2018).
        var index = Int(id.high.multipliedFullWidth(by: UInt64(places.count)).high)
        while fingerprints[index] != 0, fingerprints[index] != fingerprint || places[index].id != id {
            index = index + 1 == places.count ? 0 : index + 1
        }
        return index
    }

    /// Returns a byte of the half that does not determine the place, so that neighbors differ.
    private static func fingerprint(of id: SubjectID) -> UInt8 { max(1, UInt8(truncatingIfNeeded: id.low)) }
}
