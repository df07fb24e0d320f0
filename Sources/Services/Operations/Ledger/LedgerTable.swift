package import AdapterKit
package import Kafka
import Pipeline
import Synchronization

/// The key that signed a token: the app, the key's version and its ring.
package struct LedgerLabel: Sendable, Hashable {
    package let app: String
    /// The id of the key's version.
    package let keyID: String
    /// The ring of that version; nil for records from before records named it.
    package let ring: String?

    /// The key `keyID` of `ring`, for `app`.
    package init(app: String, keyID: String, ring: String? = nil) {
        self.app = app
        self.keyID = keyID
        self.ring = ring
    }
}

/// The newest token of each subject in a part of the token topic, read record by record, as a value.
///
/// Of each subject it keeps a hash and the position of its newest token, 40 bytes in a table with open addressing,
/// never the subject itself. The table is created for the largest possible number of subjects, so that it seldom grows.
package struct LedgerTable: Sendable {
    /// 40 bytes: two words of a hash, a version, an offset, an end, and a label's number from 1 on; 0 is an empty
    /// place.
    private struct Slot {
        var high: UInt64 = 0
        var low: UInt64 = 0
        var version: Int64 = 0
        var offset: Int64 = 0
        var expiresAt: UInt32 = 0
        var label: UInt16 = 0
        /// Whether the subject's token was removed. The place stays in use, because other subjects may be behind it.
        var isGone = false
        /// Whether the token answers a challenge, so that nobody can ask for another one in its user's name.
        var isChallengeBound = false
    }

    private let slice: LedgerSlice
    private var slots: [Slot]
    private var used = 0
    private var labels: [LedgerLabel] = []
    private var labelNumbers: [LedgerLabel: UInt16] = [:]
    /// The number of the last record's label, which is nearly always the next one's too.
    private var lastNumber: UInt16?
    /// The number of subjects with a token, live or not.
    package private(set) var subjectCount = 0
    /// Records that are no replacement tokens.
    package private(set) var strangers = 0
    /// Records that claim to be replacement tokens and cannot be read.
    package private(set) var unreadable = 0
    /// The offset of the first record that is no token or cannot be read; nil where there is none.
    private(set) var firstDoubtful: Int64?

    /// The memory of the table, in bytes.
    var bytes: Int { slots.count * MemoryLayout<Slot>.stride }
    /// The memory of a subject in a table that is as full as it gets, in bytes.
    package static let bytesPerSubject = MemoryLayout<Slot>.stride * 5 / 4

    /// An empty table.
    ///
    /// - Parameters:
    ///   - slice: the subjects to count; others are skipped.
    ///   - subjects: the expected maximum of subjects; with more, the table grows by a copy.
    package init(_ slice: LedgerSlice = .all, subjects: Int = 1000) {
        self.slice = slice
        slots = Self.room(for: max(16, subjects))
    }

    /// A token that became its subject's newest.
    package struct Entry {
        /// The app and the key's version.
        package let label: LedgerLabel
        /// The time of issue, in seconds since 1970.
        package let issuedAt: Int64
        /// The end, in seconds since 1970.
        package let expiresAt: Int64
    }

    /// Applies a record of the token topic at the time `now`; a record without a value removes the subject's token.
    ///
    /// - Returns: the token, if it is the newest of its subject so far.
    @discardableResult
    package mutating func take(_ record: RecordBody, offset: Int64, at now: UnixTime) -> Entry? {
        take(LedgerRecord(record, in: slice, at: now), offset: offset)
    }

    /// Takes what was read of a record of the token topic.
    ///
    /// - Returns: the token, where it is the newest of its subject so far.
    package mutating func take(_ record: LedgerRecord, offset: Int64) -> Entry? {
        let hash: SubjectHash, token: LedgerRecord.Token
        switch record {
        case .elsewhere: return nil
        case .stranger:
            strangers += 1
            firstDoubtful = firstDoubtful ?? offset
            return nil
        case .unreadable:
            unreadable += 1
            firstDoubtful = firstDoubtful ?? offset
            return nil
        case .tombstone(let subject):
            remove(subject)
            return nil
        case .token(let subject, let read): (hash, token) = (subject, read)
        }
        guard let label = number(of: token.label) else {
            unreadable += 1
            firstDoubtful = firstDoubtful ?? offset
            return nil
        }
        if (used + 1) * 5 > slots.count * 4 { grow() }
        let place = place(of: hash)
        let isKnown = slots[place].label != 0
        if isKnown, !slots[place].isGone, slots[place].version > token.version { return nil }
        if !isKnown { used += 1 }
        if !isKnown || slots[place].isGone { subjectCount += 1 }
        slots[place] = Slot(
            high: hash.high, low: hash.low, version: token.version, offset: offset,
            expiresAt: UInt32(clamping: token.expiresAt), label: label,
            isChallengeBound: token.isChallengeBound)
        return Entry(label: labels[Int(label) - 1], issuedAt: token.issuedAt, expiresAt: Int64(slots[place].expiresAt))
    }

    /// Returns the end of the token in the record at `offset`, in seconds since 1970; nil where the record is not the
    /// newest of its subject, has expired at `now`, or does not match `filter`.
    package func end(key: [UInt8], offset: Int64, matching filter: LedgerFilter, at now: UnixTime) -> Int64? {
        end(SubjectHash(key), offset: offset, matching: filter, at: now)
    }

    /// The same for a key with the hash `hash`.
    func end(_ hash: SubjectHash, offset: Int64, matching filter: LedgerFilter, at now: UnixTime) -> Int64? {
        guard slice.contains(hash) else { return nil }
        let slot = slots[place(of: hash)]
        guard slot.label != 0, !slot.isGone, slot.offset == offset else { return nil }
        let end = Int64(slot.expiresAt), label = labels[Int(slot.label) - 1]
        guard end > now.seconds, filter.matches(label, expiresAt: end) else { return nil }
        return end
    }

    /// Calls `body` with each subject's label, its newest token's end in seconds since 1970, and whether that token answers a
    /// challenge.
    package func each(_ body: (LedgerLabel, Int64, Bool) -> Void) { each(but: { _ in false }, body) }

    /// Calls `body` with the same of each subject that `isLeftOut` does not exclude.
    func each(but isLeftOut: (SubjectHash) -> Bool, _ body: (LedgerLabel, Int64, Bool) -> Void) {
        for slot in slots where slot.label != 0 && !slot.isGone {
            guard !isLeftOut(SubjectHash(high: slot.high, low: slot.low)) else { continue }
            body(labels[Int(slot.label) - 1], Int64(slot.expiresAt), slot.isChallengeBound)
        }
    }

    struct NewestToken {
        let label: LedgerLabel
        let version: Int64
        let expiresAt: Int64
        let isChallengeBound: Bool
    }

    /// Returns the newest token of `subject`; nil where it has none.
    func newest(of subject: SubjectHash) -> NewestToken? {
        let slot = slots[place(of: subject)]
        guard slot.label != 0, !slot.isGone else { return nil }
        return NewestToken(
            label: labels[Int(slot.label) - 1], version: slot.version, expiresAt: Int64(slot.expiresAt),
            isChallengeBound: slot.isChallengeBound)
    }

    private mutating func remove(_ hash: SubjectHash) {
        let place = place(of: hash)
        guard slots[place].label != 0, !slots[place].isGone else { return }
        slots[place].isGone = true
        subjectCount -= 1
    }

    /// Returns the place of `hash`, or the empty place for it. There always is an empty place: at most four of five are
    /// used.
    private func place(of hash: SubjectHash) -> Int {
        var place = Int(hash.low.multipliedFullWidth(by: UInt64(slots.count)).high)
        while slots[place].label != 0, slots[place].low != hash.low || slots[place].high != hash.high {
            place += 1
            if place == slots.count { place = 0 }
        }
        return place
    }

    private mutating func grow() {
        let old = slots
        slots = Self.room(for: used * 2)
        used = 0
        for slot in old where slot.label != 0 && !slot.isGone {
            slots[place(of: SubjectHash(high: slot.high, low: slot.low))] = slot
            used += 1
        }
    }

    private static func room(for subjects: Int) -> [Slot] { Array(repeating: Slot(), count: subjects / 4 * 5 + 8) }

    private mutating func number(of label: TokenLabel) -> UInt16? {
        if let lastNumber {
            let last = labels[Int(lastNumber) - 1]
            if label.isSame(asApp: last.app, keyID: last.keyID, ring: last.ring) { return lastNumber }
        }
        lastNumber = number(of: LedgerLabel(app: label.app, keyID: label.keyID, ring: label.keyRing))
        return lastNumber
    }

    private mutating func number(of label: LedgerLabel) -> UInt16? {
        if let number = labelNumbers[label] { return number }
        guard let number = UInt16(exactly: labels.count + 1) else { return nil }
        labels.append(label)
        labelNumbers[label] = number
        return number
    }
}

/// Tokens of one key of one app.
package struct LedgerHolding: Sendable, Equatable {
    package let app: String
    /// The id of the key's version.
    package let keyID: String
    package private(set) var live = 0
    /// The end of the first live token, in seconds since 1970.
    package private(set) var firstEnd: Int64?
    /// The end of the last live token, in seconds since 1970.
    package private(set) var lastEnd: Int64?
    /// The number of expired tokens that are still on the token topic.
    package private(set) var ended = 0
    /// The ring of that version; nil for records from before records named it.
    package let ring: String?
    /// The tokens of `live` that answer a challenge: only their devices can renew them.
    package private(set) var challengeBound = 0

    init(_ label: LedgerLabel) {
        app = label.app
        keyID = label.keyID
        ring = label.ring
    }

    package var label: LedgerLabel { LedgerLabel(app: app, keyID: keyID, ring: ring) }

    mutating func count(_ end: Int64, isChallengeBound: Bool, at now: UnixTime) {
        guard end > now.seconds else {
            ended += 1
            return
        }
        live += 1
        if isChallengeBound { challengeBound += 1 }
        firstEnd = min(firstEnd ?? end, end)
        lastEnd = max(lastEnd ?? end, end)
    }
}

/// The live tokens of each key, counted on the token topic.
package struct LedgerHoldings: Sendable {
    private var holdings: [LedgerLabel: LedgerHolding] = [:]
    /// The number of subjects with a token on the token topic, live or not.
    package private(set) var subjectCount = 0
    /// Records that are no replacement tokens.
    package private(set) var strangers = 0
    /// Records that claim to be replacement tokens and cannot be read.
    package private(set) var unreadable = 0

    /// The first record that is no token or cannot be read; nil where there is none.
    package private(set) var firstDoubtful: RecordPosition?

    /// The offsets that open transactions hid of the topic.
    package var hidden: HiddenOffsets?

    package init() {}

    /// The holdings, sorted by app, version and ring.
    package var list: [LedgerHolding] {
        holdings.values.sorted { ($0.app, $0.keyID, $0.ring ?? "") < ($1.app, $1.keyID, $1.ring ?? "") }
    }

    package var live: Int { holdings.values.reduce(0) { $0 + $1.live } }

    /// Adds the tokens of `table` at `now` that `filter` matches.
    package mutating func add(_ table: LedgerTable, matching filter: LedgerFilter, at now: UnixTime) {
        add(table, matching: filter, at: now, but: { _ in false })
    }

    /// Adds the tokens of `table` but those of the subjects that `isLeftOut` excludes.
    mutating func add(
        _ table: LedgerTable, matching filter: LedgerFilter, at now: UnixTime, but isLeftOut: (SubjectHash) -> Bool
    ) {
        subjectCount += table.subjectCount
        strangers += table.strangers
        unreadable += table.unreadable
        table.each(but: isLeftOut) { label, end, isChallengeBound in
            guard filter.matches(label, expiresAt: end) else { return }
            holdings[label, default: LedgerHolding(label)].count(end, isChallengeBound: isChallengeBound, at: now)
        }
    }

    /// Notes the first record of `table`, which has read `partition`, that is no token or cannot be read.
    mutating func noteDoubtful(in table: LedgerTable, of partition: TopicPartition) {
        guard firstDoubtful == nil, let offset = table.firstDoubtful else { return }
        firstDoubtful = RecordPosition(
            topic: partition.topic, partition: partition.partition, offset: offset)
    }

    /// Adds a token that matches the filter.
    mutating func add(_ token: LedgerTable.NewestToken, at now: UnixTime) {
        holdings[token.label, default: LedgerHolding(token.label)].count(
            token.expiresAt, isChallengeBound: token.isChallengeBound, at: now)
    }
}

/// The tables of the last reading of the token topic, for a command that reads it several times: the next reading goes
/// on behind them, because a record only changes by a later one.
///
/// Nothing is kept of a partition that was read in slices, of which an open transaction hid a part, or with tokens
/// outside of their subjects' partitions. Those are read from their start every time.
final class KnownTables: Sendable {
    /// A table and the offset up to which it was read.
    struct Table {
        var table: LedgerTable
        let next: Int64
    }

    private struct State {
        var tables: [TopicPartition: Table] = [:]
        var partitions = 0
    }

    private let state = Mutex(State())
    /// The limit on the memory of all tables, in bytes.
    private let limit: Int

    /// No tables yet.
    ///
    /// - Parameter memory: the limit on the memory of all tables, in bytes.
    init(memory: Int) { limit = memory }

    /// The offset of each partition from which the topic is to be read; nil where nothing is known.
    var starts: [Int64]? {
        state.withLock { state in
            guard !state.tables.isEmpty else { return nil }
            var starts = [Int64](repeating: 0, count: state.partitions)
            for (partition, known) in state.tables where starts.indices.contains(Int(partition.partition)) {
                starts[Int(partition.partition)] = known.next
            }
            return starts
        }
    }

    /// Whether a reading from `starts` with these `bounds` goes on where the tables end. It does not where partitions
    /// were added, which moves subjects to other partitions, and where the topic is shorter than it was: then it was
    /// created again.
    func precede(_ bounds: [TopicPartition: Range<Int64>]) -> Bool {
        state.withLock { state in
            guard state.partitions == bounds.count else { return false }
            return state.tables.allSatisfy { known in
                // Records that were deleted meanwhile are in the table.
                bounds[known.key].map { $0.lowerBound >= known.value.next } ?? false
            }
        }
    }

    /// Removes and returns the table of `partition`.
    func take(_ partition: TopicPartition) -> LedgerTable? {
        state.withLock { $0.tables.removeValue(forKey: partition)?.table }
    }

    /// Keeps the table of `partition` of a topic with `count` partitions, if there is memory for it.
    func keep(_ table: LedgerTable, of partition: TopicPartition, among count: Int, next: Int64) {
        state.withLock { state in
            if state.partitions != count { state = State(partitions: count) }
            let kept = state.tables.values.reduce(0) { $0 + $1.table.bytes }
            guard kept + table.bytes <= limit else { return }
            state.tables[partition] = Table(table: table, next: next)
        }
    }

    func forget() { state.withLock { $0.tables = [:] } }
}

/// The partition to which workers send a record, by its key: that of `murmur2_random`, the partitioner of Kafka's Java
/// clients (`KafkaProperties`).
enum KeyPartition {
    /// Returns the partition of `key` on a topic with `count` partitions.
    static func of(_ key: [UInt8], count: Int) -> Int32 {
        guard count > 0 else { return 0 }
        return Int32(truncatingIfNeeded: (murmur2(key) & 0x7fff_ffff) % UInt32(clamping: count))
    }

    /// Returns MurmurHash2 of `bytes` with Kafka's seed.
    static func murmur2(_ bytes: [UInt8]) -> UInt32 {
        let factor: UInt32 = 0x5bd1_e995
        var hash = 0x9747_b28c ^ UInt32(truncatingIfNeeded: bytes.count)
        var place = 0
        while place + 4 <= bytes.count {
            var word =
                UInt32(bytes[place]) | UInt32(bytes[place + 1]) << 8 | UInt32(bytes[place + 2]) << 16
                | UInt32(bytes[place + 3]) << 24
            word = word &* factor
            word ^= word >> 24
            hash = (hash &* factor) ^ (word &* factor)
            place += 4
        }
        if place < bytes.count {
            for (shift, byte) in bytes[place...].enumerated() { hash ^= UInt32(byte) << (8 * UInt32(shift)) }
            hash = hash &* factor
        }
        hash ^= hash >> 13
        hash = hash &* factor
        return hash ^ hash >> 15
    }
}
