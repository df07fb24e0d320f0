package import AdapterKit
import JOSE
import Kafka
package import Logging
import Pipeline
package import WorkerConfiguration

/// Reads the token topic as a ledger, partition by partition, with a table of bounded size.
///
/// A subject's tokens are all in one partition, as long as the topic's number of partitions does not change. Where
/// partitions were added, tokens in a subject's old partition are compared with those of its present one (`StrayTokens`).
package struct LedgerReader {
    private let configuration: Configuration
    private let brokers: String
    private let memory: Int
    private let maxWait: Duration
    private let logger: Logger
    private let display: any ProgressDisplay
    /// The tables of the last reading; nil where every reading begins at the topic's start.
    private let known: KnownTables?

    /// The default limit on the table's memory, in bytes.
    package static let standardMemory = 192 << 20
    /// The divisor of that memory that gives the limit on the keys beside the table, for a partition and a slice.
    private static let shareOfKeys = 4

    /// A reader of the token topic at `brokers`, which shows its progress on `display`.
    ///
    /// - Parameters:
    ///   - memory: the limit on the table's memory, in bytes; the Kafka client uses some 64 MB besides.
    ///   - maxWait: the longest time to wait for an open transaction that hides a part of the topic.
    ///   - remembers: whether a reading keeps its tables, so that the next one reads only what was published since. The
    ///     tables of all partitions together then use at most half of `memory`.
    package init(
        _ configuration: Configuration, brokers: String, memory: Int = Self.standardMemory,
        maxWait: Duration = TopicReader.standardMaxWait, remembers: Bool = false, logger: Logger,
        display: any ProgressDisplay
    ) {
        self.configuration = configuration
        self.brokers = brokers
        self.memory = memory
        self.maxWait = maxWait
        self.logger = logger
        self.display = display
        known = remembers ? KnownTables(memory: memory / 2) : nil
    }

    /// Returns the tokens that live at `now` and that `filter` matches, and the offsets that open transactions hide.
    package func holdings(
        at now: UnixTime, matching filter: LedgerFilter = LedgerFilter()
    ) async throws -> LedgerHoldings {
        var holdings = LedgerHoldings()
        var strays: StrayTokens?
        holdings.hidden = try await eachSlice(from: known) { partition, slice, table, turns in
            var found = strays ?? turns.strays(memory / Self.shareOfKeys)
            try await turns.read(partition) {
                LedgerRecord($0.body, in: slice, at: now)
            } each: { record, read in
                _ = table.take(read, offset: record.position.offset)
                found.note(record)
            }
            let kept = found.keep(from: table, matching: filter, at: now)
            holdings.add(table, matching: filter, at: now, but: kept.contains)
            holdings.noteDoubtful(in: table, of: partition)
            strays = found
            return !found.hasAny
        }
        try await compare(&strays, at: now)
        strays?.each { holdings.add($0, at: now) }
        return holdings
    }

    /// Returns the subject keys of the subjects whose newest token `filter` matches, the earliest end first, and the
    /// offsets that open transactions hide.
    package func keys(
        matching filter: LedgerFilter, at now: UnixTime
    ) async throws -> (keys: [[UInt8]], hidden: HiddenOffsets?) {
        let (holders, hidden) = try await holders(matching: filter, at: now)
        return (holders.map(\.key), hidden)
    }

    /// Returns the subjects whose newest token `filter` matches, the earliest end first, and the offsets that open
    /// transactions hide.
    package func holders(
        matching filter: LedgerFilter, at now: UnixTime
    ) async throws -> (holders: [LedgerHolder], hidden: HiddenOffsets?) {
        var found: [LedgerHolder] = []
        var strays: StrayTokens?
        var strayHolders: [SubjectHash: LedgerHolder] = [:]
        // A table has no keys, so that each record is read again for them.
        known?.forget()
        let hidden = try await eachSlice { partition, slice, table, turns in
            var notes = LedgerNotes(limit: memory / Self.shareOfKeys)
            var misplaced = strays ?? turns.strays(memory / Self.shareOfKeys)
            try await turns.read(partition) {
                LedgerRecord($0.body, in: slice, at: now)
            } each: { record, read in
                misplaced.note(record)
                let offset = record.position.offset
                let entry = table.take(read, offset: offset)
                guard case .token(let subject, _) = read, let entry,
                    let key = record.key, entry.expiresAt > now.seconds,
                    filter.matches(entry.label, expiresAt: entry.expiresAt)
                else { return }
                notes.note(key, subject, offset: offset, issuedAt: entry.issuedAt)
            }
            let kept = misplaced.keep(from: table, matching: filter, at: now)
            strays = misplaced
            func add(_ key: ArraySlice<UInt8>, _ subject: SubjectHash, _ offset: Int64, _ issuedAt: Int64) {
                guard let end = table.end(subject, offset: offset, matching: filter, at: now) else { return }
                let holder = LedgerHolder(key: Array(key), issuedAt: issuedAt, expiresAt: end)
                if kept.contains(subject) { strayHolders[subject] = holder } else { found.append(holder) }
            }
            if notes.isComplete {
                notes.each(add)
            } else {
                // There are too many of them to be kept beside the table.
                try await turns.readAgain(partition) {
                    LedgerRecord($0.body, in: slice, at: now)
                } each: { record, read in
                    guard let key = record.key, case .token(let subject, let token) = read else { return }
                    add(key[...], subject, record.position.offset, token.issuedAt)
                }
            }
            return !misplaced.hasAny
        }
        try await compare(&strays, at: now)
        found += strayHolders.filter { strays?.contains($0.key) == true }.map(\.value)
        found.sort { $0.expiresAt < $1.expiresAt }
        return (found, hidden)
    }

    /// Drops of `strays` the tokens for which their subjects' partitions have newer ones. What an open transaction hides
    /// drops none.
    private func compare(_ strays: inout StrayTokens?, at now: UnixTime) async throws {
        guard var found = strays, !found.homes.isEmpty else { return }
        let reader = try await TopicReader(
            configuration.topics.tokens, configuration, brokers: brokers, logger: logger)
        let homes = found.homes
        let partitions = reader.bounds.keys.filter { homes.contains($0.partition) }
        _ = try await reader.readVisible(Array(partitions), within: .zero) { record, _, _ in
            guard let key = record.key else { return }
            guard record.value != nil else { return found.compare(key, nil, in: record.position.partition) }
            guard let version = try? TokenRecord(record.body, at: now).version else { return }
            found.compare(key, version, in: record.position.partition)
        }
        strays = found
    }

    /// Opens the topic behind the tables of `known`, or at its start.
    ///
    /// - Returns: the reader, and the tables with which it goes on; nil where it begins at the topic's start.
    private func open(from known: KnownTables?) async throws -> (TopicReader, KnownTables?) {
        let topic = configuration.topics.tokens
        if let known, let starts = known.starts {
            let reader = try await TopicReader(topic, from: starts, configuration, brokers: brokers, logger: logger)
            if known.precede(reader.bounds) { return (reader, known) }
            known.forget()
        }
        return (try await TopicReader(topic, configuration, brokers: brokers, logger: logger), nil)
    }

    /// Calls `body` with each slice of each partition and its table.
    ///
    /// - Parameters:
    ///   - known: the tables with which the reading goes on; nil to begin at the topic's start.
    ///   - body: reads a slice; returns whether its table may be kept for the next reading.
    /// - Returns: the offsets of the topic that open transactions hide.
    private func eachSlice(
        from known: KnownTables? = nil,
        _ body: (TopicPartition, LedgerSlice, inout LedgerTable, inout LedgerTurns) async throws -> Bool
    ) async throws -> HiddenOffsets? {
        let (reader, known) = try await open(from: known)
        let plan = reader.bounds.sorted { $0.key.partition < $1.key.partition }.map { partition, bounds in
            (partition, bounds, LedgerPlan.slices(records: bounds.count, memory: memory))
        }
        var turns = LedgerTurns(reader, total: plan.reduce(0) { $0 + $1.1.count * $1.2.count }, maxWait, display)
        defer { turns.end() }
        var areAllKept = true
        for (partition, bounds, slices) in plan {
            let past = known?.take(partition)
            for slice in slices {
                let room = LedgerPlan.room(records: bounds.count, slices: slices.count)
                var table = past ?? LedgerTable(slice, subjects: room)
                let isKept = try await body(partition, slice, &table, &turns)
                areAllKept = areAllKept && isKept
                guard slices.count == 1, areAllKept, !turns.hides(partition) else { continue }
                self.known?.keep(table, of: partition, among: plan.count, next: bounds.upperBound)
            }
        }
        if !areAllKept { self.known?.forget() }
        return turns.hidden
    }
}

/// The readings of a topic's partitions, one after the other, and their progress together.
private struct LedgerTurns {
    private let reader: TopicReader
    private var total: Int
    private var passed = 0
    private var display: any ProgressDisplay
    /// The time left for waiting for open transactions, in all partitions together.
    private var maxWait: Duration
    /// The hidden offsets, by partition.
    private var hiddenOffsets: [TopicPartition: HiddenOffsets] = [:]

    init(_ reader: TopicReader, total: Int, _ maxWait: Duration, _ display: any ProgressDisplay) {
        self.reader = reader
        self.maxWait = maxWait
        self.total = total
        self.display = display
    }

    /// Returns tokens outside of their subjects' partitions, none yet.
    func strays(_ memory: Int) -> StrayTokens { StrayTokens(partitions: reader.bounds.count, memory: memory) }

    /// Reads every record of `partition` once more than was foreseen.
    mutating func readAgain<Read: Sendable>(
        _ partition: TopicPartition, _ read: @escaping @Sendable (ConsumedRecord) -> Read,
        each: (ConsumedRecord, Read) -> Void
    ) async throws {
        total += reader.bounds[partition]?.count ?? 0
        try await self.read(partition, read, each: each)
    }

    /// Reads every record of `partition`.
    ///
    /// - Parameters:
    ///   - read: reads a record, several at a time.
    ///   - each: called with each record, in their order.
    mutating func read<Read: Sendable>(
        _ partition: TopicPartition, _ read: @escaping @Sendable (ConsumedRecord) -> Read,
        each: (ConsumedRecord, Read) -> Void
    ) async throws {
        let before = passed
        let hidden = try await reader.readVisible([partition], within: maxWait, read) { record, read, done, _ in
            each(record, read)
            guard display.isShown else { return }
            display.show(before + done, of: total, "\(before + done) of \(total.of("offset"))")
        }
        if let hidden {
            // Several readings of a partition hide the same offsets; the next partition's transaction had its time too.
            hiddenOffsets[partition] = hiddenOffsets[partition] ?? hidden
            maxWait = .zero
        }
        passed += reader.bounds[partition]?.count ?? 0
    }

    /// The offsets of the topic that open transactions hide.
    var hidden: HiddenOffsets? {
        let parts = hiddenOffsets.sorted { $0.key.partition < $1.key.partition }.map(\.value)
        return parts.dropFirst().reduce(into: parts.first) { $0?.add($1) }
    }

    /// Whether an open transaction hides offsets of `partition`.
    func hides(_ partition: TopicPartition) -> Bool { hiddenOffsets[partition] != nil }

    mutating func end() { display.clear() }
}

/// Half of a SHA-256 of a subject key: that two of a billion subjects share one is less likely than a fault of the machine.
package struct SubjectHash: Sendable, Hashable {
    let high, low: UInt64

    init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    init(_ key: some Collection<UInt8>) {
        let digest = SHA256.hash(key)
        func word(_ start: Int) -> UInt64 {
            var word: UInt64 = 0
            for place in start..<start + 8 { word = word << 8 | UInt64(digest[place]) }
            return word
        }
        self.init(high: word(0), low: word(8))
    }
}

/// A part of all subjects, by their hashes, one of several equal ones: subjects too many for memory are read in several
/// turns.
package struct LedgerSlice: Sendable, Equatable {
    private let index: UInt64
    private let count: UInt64

    package static let all = LedgerSlice(index: 0, count: 1)

    /// Returns `count` parts.
    package static func slices(_ count: Int) -> [LedgerSlice] {
        (0..<UInt64(max(1, count))).map { LedgerSlice(index: $0, count: UInt64(max(1, count))) }
    }

    /// Whether it is the part that counts records that belong to no subject.
    var isFirst: Bool { index == 0 }

    func contains(_ hash: SubjectHash) -> Bool { count == 1 || hash.high % count == index }
}

/// The plan for reading a topic with a table of bounded size: partition by partition, because a subject's tokens are
/// all in one, and in slices where a partition has more records than the table holds.
package enum LedgerPlan {
    /// Returns the slices in which a partition with `records` offsets is read, where a table uses at most `memory`
    /// bytes.
    package static func slices(records: Int, memory: Int) -> [LedgerSlice] {
        let fitting = max(1, memory / LedgerTable.bytesPerSubject)
        return LedgerSlice.slices(records / fitting + (records % fitting == 0 ? 0 : 1))
    }

    /// Returns the expected maximum of subjects in a slice of such a partition; its table grows where there are more.
    package static func room(records: Int, slices: Int) -> Int {
        let share = records / max(1, slices)
        return slices == 1 ? share + 1 : share + share / 20 + 1000
    }
}

/// The subject keys of tokens that a `LedgerTable` counted and a filter matches, so that the topic need not be read
/// again for them.
///
/// The keys are in one piece of memory, one behind the other. If they exceed it, all are forgotten.
struct LedgerNotes {
    private struct Note {
        let start: Int
        let subject: SubjectHash
        let offset: Int64
        let issuedAt: Int64
    }

    private let limit: Int
    private var keys: [UInt8] = []
    private var notes: [Note] = []
    private(set) var isComplete = true

    /// Notes without a key.
    ///
    /// - Parameter limit: the limit on their memory, in bytes.
    init(limit: Int) { self.limit = limit }

    /// Notes the token of the record at `offset` with its key, whose hash is `subject`.
    mutating func note(_ key: [UInt8], _ subject: SubjectHash, offset: Int64, issuedAt: Int64) {
        guard isComplete else { return }
        guard keys.count + key.count + (notes.count + 1) * MemoryLayout<Note>.stride <= limit else {
            isComplete = false
            (keys, notes) = ([], [])
            return
        }
        notes.append(Note(start: keys.count, subject: subject, offset: offset, issuedAt: issuedAt))
        keys += key
    }

    /// Calls `body` with each note's key and its hash, offset and time of issue.
    func each(_ body: (_ key: ArraySlice<UInt8>, _ subject: SubjectHash, _ offset: Int64, _ issuedAt: Int64) -> Void) {
        for (place, note) in notes.enumerated() {
            let end = place + 1 < notes.count ? notes[place + 1].start : keys.count
            body(keys[note.start..<end], note.subject, note.offset, note.issuedAt)
        }
    }
}

package struct LedgerFilter: Sendable, Equatable {
    /// The apps; nil for any.
    package var apps: [String]?
    /// The versions of the app's key that signed the tokens; nil for any.
    package var keyIDs: [String]?
    /// The ring of the tokens; tokens of an unknown ring match too. nil for any ring.
    package var ring: LedgerRing?
    /// The moment before which the tokens end, in seconds since 1970; nil for any.
    package var expiringBefore: Int64?

    /// A filter for tokens of `versions` of `ring`.
    package init(versions: [String], of ring: LedgerRing) {
        self.init(ring: ring)
        keyIDs = versions
    }

    /// A filter that matches tokens that fulfill each of these conditions.
    package init(
        apps: [String]? = nil, keyID: String? = nil, ring: LedgerRing? = nil, expiringBefore: Int64? = nil
    ) {
        self.apps = apps
        self.ring = ring
        keyIDs = keyID.map { [$0] }
        self.expiringBefore = expiringBefore
    }

    func matches(_ label: LedgerLabel, expiresAt: Int64) -> Bool {
        if let apps, !apps.contains(where: { $0.hasSameBytes(as: label.app) }) { return false }
        if let keyIDs, !keyIDs.contains(where: { $0.hasSameBytes(as: label.keyID) }) { return false }
        if let ring, ring.owner(of: label) == .other { return false }
        if let expiringBefore, expiresAt >= expiringBefore { return false }
        return true
    }
}

/// A subject on the ledger, by its newest token.
package struct LedgerHolder: Sendable, Equatable {
    package let key: [UInt8]
    /// The token's time of issue, in seconds since 1970.
    package let issuedAt: Int64
    /// The token's end, in seconds since 1970.
    package let expiresAt: Int64
}
