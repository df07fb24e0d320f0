import AdapterKit

/// Tokens by subject key, each once and in one piece of memory, in the order of their publication. The table knows its
/// memory.
///
/// A token's place is a number, which stays the same until the token is removed.
struct TokenTable: Sendable {
    private struct Entry: Sendable {
        /// Key and token, one behind the other.
        var bytes: [UInt8] = []
        var recovery: Recovery?
        var version: Int64 = 0
        var hash: UInt32 = 0
        var keyLength: UInt32 = 0
        /// The neighbors in the order of publication; of an empty place, `newer` is the next empty one.
        var (older, newer): (UInt32, UInt32) = (.max, .max)
        var isSealed = false
        var isPast = false
    }

    private static let none = UInt32.max
    private var entries = ChunkedArray<Entry>()
    /// For each hash, the place of an entry; open addressing, a power of two.
    private var index: [UInt32]
    private var firstEmpty = none
    private(set) var oldest: UInt32?
    private var newest = none
    private(set) var count = 0
    private var content = 0

    init() { index = [UInt32](repeating: Self.none, count: 256) }

    /// The number of places, empty ones as well.
    var slots: Int { entries.capacity }

    /// The memory of the table, in bytes.
    var bytes: Int { content + entries.capacity * MemoryLayout<Entry>.stride + index.count * 4 }

    /// Whether most of the places are empty, and there are many.
    var isSparse: Bool { entries.capacity > 4 * ChunkedArray<Entry>.piece && count * 4 < entries.capacity }

    /// Returns the most memory that another token takes, in bytes.
    func cost(of token: HeldToken, _ key: [UInt8]) -> Int {
        let isFull = firstEmpty == Self.none && entries.count == entries.capacity
        let piece = ChunkedArray<Entry>.piece * (MemoryLayout<Entry>.stride + ExpiryWheel.memory)
        let growth = (isFull ? piece : 0) + (isIndexFull ? index.count * 4 : 0)
        return Self.memory(key.count + token.text.count, token.recovery) + growth
    }

    /// Returns the memory of an array of `count` bytes on the heap, and of a failure that the token ends.
    private static func memory(_ count: Int, _ recovery: Recovery?) -> Int {
        // An array's header has 32 bytes; the allocator has 8 for itself and counts by 16.
        (count + 32 + 8 + 15) & ~15 + (recovery == nil ? 0 : 64)
    }

    // MARK: Reading

    func find(_ key: [UInt8]) -> UInt32? {
        let hash = Self.hash(key)
        var slot = Int(hash) & (index.count - 1)
        while index[slot] != Self.none {
            let place = index[slot]
            if entries[place].hash == hash, isKey(key, of: place) { return place }
            slot = (slot + 1) & (index.count - 1)
        }
        return nil
    }

    func version(_ place: UInt32) -> Int64 { entries[place].version }

    /// Returns whether the token at `place` came from the topic's past.
    func isPast(_ place: UInt32) -> Bool { entries[place].isPast }

    func key(_ place: UInt32) -> [UInt8] {
        let entry = entries[place]
        return Array(entry.bytes[..<Int(entry.keyLength)])
    }

    func token(_ place: UInt32, expiresAt: Int64) -> HeldToken {
        let entry = entries[place]
        return HeldToken(
            text: Array(entry.bytes[Int(entry.keyLength)...]), isSealed: entry.isSealed, version: entry.version,
            expiresAt: expiresAt, recovery: entry.recovery)
    }

    /// Calls `body` with each place, from the token that was published first.
    func forEachFromOldest(_ body: (UInt32) -> Void) {
        var place = oldest ?? Self.none
        while place != Self.none {
            let next = entries[place].newer
            body(place)
            place = next
        }
    }

    // MARK: Changes

    /// Inserts a token of a key that has none, as the newest or the oldest of all.
    ///
    /// - Parameter isPast: whether it came from the topic's past.
    /// - Returns: its place.
    mutating func insert(_ token: HeldToken, _ key: [UInt8], isNewest: Bool, isPast: Bool) -> UInt32 {
        if isIndexFull { grow() }
        var entry = Entry()
        entry.bytes.reserveCapacity(key.count + token.text.count)
        entry.bytes.append(contentsOf: key)
        entry.bytes.append(contentsOf: token.text)
        entry.recovery = token.recovery
        entry.version = token.version
        entry.hash = Self.hash(key)
        entry.keyLength = UInt32(key.count)
        entry.isSealed = token.isSealed
        entry.isPast = isPast
        content += Self.memory(entry.bytes.count, entry.recovery)
        let place = take(entry)
        link(place, isNewest: isNewest)
        note(place)
        count += 1
        return place
    }

    mutating func remove(_ place: UInt32) {
        erase(place)
        let entry = entries[place]
        content -= Self.memory(entry.bytes.count, entry.recovery)
        if entry.older != Self.none {
            entries[entry.older].newer = entry.newer
        } else {
            oldest = entry.newer == Self.none ? nil : entry.newer
        }
        if entry.newer != Self.none { entries[entry.newer].older = entry.older } else { newest = entry.older }
        var empty = Entry()
        empty.newer = firstEmpty
        entries[place] = empty
        firstEmpty = place
        count -= 1
    }

    private mutating func take(_ entry: Entry) -> UInt32 {
        guard firstEmpty != Self.none else {
            entries.append(entry)
            return UInt32(entries.count - 1)
        }
        let place = firstEmpty
        firstEmpty = entries[place].newer
        entries[place] = entry
        return place
    }

    private mutating func link(_ place: UInt32, isNewest: Bool) {
        guard let oldest else {
            oldest = place
            newest = place
            return
        }
        if isNewest {
            entries[place].older = newest
            entries[newest].newer = place
            newest = place
        } else {
            entries[place].newer = oldest
            entries[oldest].older = place
            self.oldest = place
        }
    }

    // MARK: The index

    private var isIndexFull: Bool { (count + 1) * 4 > index.count * 3 }

    private static func hash(_ key: [UInt8]) -> UInt32 { UInt32(truncatingIfNeeded: key.hashValue) }

    private func isKey(_ key: [UInt8], of place: UInt32) -> Bool {
        let length = Int(entries[place].keyLength)
        return length == key.count && entries[place].bytes[..<length].elementsEqual(key)
    }

    private mutating func note(_ place: UInt32) {
        var slot = Int(entries[place].hash) & (index.count - 1)
        while index[slot] != Self.none { slot = (slot + 1) & (index.count - 1) }
        index[slot] = place
    }

    /// Removes `place` from the index, and moves up the entries that it had displaced.
    private mutating func erase(_ place: UInt32) {
        let mask = index.count - 1
        var slot = Int(entries[place].hash) & mask
        while index[slot] != place { slot = (slot + 1) & mask }
        index[slot] = Self.none
        var next = (slot + 1) & mask
        while index[next] != Self.none {
            let home = Int(entries[index[next]].hash) & mask
            if (next - home) & mask >= (next - slot) & mask {
                index[slot] = index[next]
                index[next] = Self.none
                slot = next
            }
            next = (next + 1) & mask
        }
    }

    private mutating func grow() {
        index = [UInt32](repeating: Self.none, count: index.count * 2)
        var place = oldest ?? Self.none
        while place != Self.none {
            note(place)
            place = entries[place].newer
        }
    }
}

/// An array that grows by pieces of one size: growth copies nothing, and at most one piece is unused.
struct ChunkedArray<Element: Sendable>: Sendable {
    static var piece: Int { 256 }

    private var pieces: [ContiguousArray<Element>] = []
    private(set) var count = 0

    /// The number of elements for which memory is allocated.
    var capacity: Int { pieces.count * Self.piece }

    subscript(index: UInt32) -> Element {
        get { pieces[Int(index) / Self.piece][Int(index) % Self.piece] }
        _modify { yield &pieces[Int(index) / Self.piece][Int(index) % Self.piece] }
    }

    mutating func append(_ element: Element) {
        if count == capacity {
            var piece = ContiguousArray<Element>()
            piece.reserveCapacity(Self.piece)
            pieces.append(piece)
        }
        pieces[pieces.count - 1].append(element)
        count += 1
    }
}
