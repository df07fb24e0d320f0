/// The end times of numbered entries, as a hierarchical timing wheel. For any number of entries, an insertion, a
/// removal and a second's passing cost a few steps. A value without a clock.
struct ExpiryWheel: Sendable {
    private struct Link: Sendable {
        var (previous, next): (UInt32, UInt32) = (.max, .max)
        var slot: UInt16 = .max
        var end: Int64 = .max
    }

    /// Each level has 256 slots, each as long as the whole level below it; the first level's are seconds.
    private static let levels = 4
    /// A jump of the clock longer than this, in seconds, sorts everything again.
    private static let longestWalk: Int64 = 100_000
    /// The longest time ahead that the wheel sorts by, in seconds; later ends are sorted again when it has passed.
    private static let furthest: Int64 = 1 << 32 - 1

    private var heads = [UInt32](repeating: .max, count: ExpiryWheel.levels * 256)
    private var links = ChunkedArray<Link>()
    /// The last second that has passed.
    private var now: Int64

    /// The second that the wheel stands at, since 1970.
    var time: Int64 { now }

    /// The memory that each number takes, in bytes.
    static var memory: Int { MemoryLayout<Link>.stride }

    /// A wheel that stands at `now`, in seconds since 1970.
    init(at now: Int64 = 0) { self.now = now }

    /// Returns the end of `number`, in seconds since 1970.
    func end(of number: UInt32) -> Int64 { links[number].end }

    /// Notes that `number` ends at `end`. The number is not in the wheel yet; a new one is the next after all others.
    mutating func insert(_ number: UInt32, endingAt end: Int64) {
        if Int(number) == links.count { links.append(Link()) }
        links[number].end = end
        place(number)
    }

    mutating func remove(_ number: UInt32) {
        let link = links[number]
        guard link.slot != .max else { return }
        if link.previous != .max { links[link.previous].next = link.next } else { heads[Int(link.slot)] = link.next }
        if link.next != .max { links[link.next].previous = link.previous }
        links[number].slot = .max
    }

    /// Advances the time to `time`, and forgets the entries that expired.
    ///
    /// - Returns: the numbers of these entries.
    mutating func advance(to time: Int64) -> [UInt32] {
        guard time > now else { return [] }
        var ended: [UInt32] = []
        if time - now > Self.longestWalk {
            now = time
            for slot in heads.indices { resort(slot, &ended) }
            return ended
        }
        while now < time {
            now += 1
            for level in 1..<Self.levels where now & ((1 << (8 * Int64(level))) - 1) == 0 {
                resort(Self.slot(level, now), &ended)
            }
            resort(Self.slot(0, now), &ended)
        }
        return ended
    }

    private static func slot(_ level: Int, _ second: Int64) -> Int {
        level << 8 | Int(second >> (8 * Int64(level)) & 255)
    }

    /// Empties a slot: expired entries are added to `ended`, the rest is sorted again.
    private mutating func resort(_ slot: Int, _ ended: inout [UInt32]) {
        var number = heads[slot]
        heads[slot] = .max
        while number != .max {
            let next = links[number].next
            links[number].slot = .max
            if links[number].end <= now { ended.append(number) } else { place(number) }
            number = next
        }
    }

    private mutating func place(_ number: UInt32) {
        let second = min(max(links[number].end, now + 1), now + Self.furthest)
        let distance = second - now
        let level = distance < 1 << 8 ? 0 : distance < 1 << 16 ? 1 : distance < 1 << 24 ? 2 : 3
        let slot = Self.slot(level, second)
        let first = heads[slot]
        links[number].previous = .max
        links[number].next = first
        links[number].slot = UInt16(slot)
        if first != .max { links[first].previous = number }
        heads[slot] = number
    }
}
