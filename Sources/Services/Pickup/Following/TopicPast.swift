import AdapterKit
import Kafka
import Logging
import Pipeline
import Telemetry
import Wiring
import WorkerConfiguration

/// Reads the records that the token topic held before it was followed, newest first, until the memory for tokens is
/// full or the rest is too old. It runs beside the calls, with a consumer of its own.
///
/// It begins when every partition that existed at first is followed: the records of a partition without a leader may be
/// newer than all others.
final class TopicPast: Sendable {
    /// The part of the past to be read.
    private struct Plan: Sendable {
        var windows: PastWindows<PastRecord>
        var reach: PastReach
        /// Whether the first needed offsets are known.
        var isBounded = false
        /// The partitions whose first records are not needed.
        var cut: Set<TopicPartition> = []
        /// The partitions between two windows that wait for those that were not read as far back.
        var resting: Set<TopicPartition> = []
    }

    /// Partitions, each with the offset from which on it is followed.
    typealias Ends = [TopicPartition: Int64]

    private static let timeout = Duration.seconds(10)
    /// The number of records that the windows of all partitions hold together.
    private static let records = 8000
    private let configuration: Configuration
    private let age: Duration
    private let brokers: String
    private let store: TokenStore
    private let unreadable: UnreadableRecords
    private let logger: Logger
    private let now: @Sendable () -> UnixTime
    /// Called with the number of tokens that were read.
    private let noted: @Sendable (Int) -> Void
    private let (wanted, more) = AsyncStream.makeStream(of: (ends: Ends, count: Int).self)

    init(
        _ configuration: Configuration, age: Duration, brokers: String, store: TokenStore,
        unreadable: UnreadableRecords, logger: Logger, now: @escaping @Sendable () -> UnixTime,
        noted: @escaping @Sendable (Int) -> Void
    ) {
        self.configuration = configuration
        self.age = age
        self.brokers = brokers
        self.store = store
        self.unreadable = unreadable
        self.logger = logger
        self.now = now
        self.noted = noted
    }

    /// Adds partitions that are followed from these offsets on, to read their past. `count` is the number of partitions
    /// at first.
    func add(_ ends: Ends, of count: Int) { more.yield((ends, count)) }

    /// Reads the past of the added partitions, until the task is canceled. After a failure of the brokers it continues
    /// where it stopped.
    func run() async {
        var ends: Ends = [:]
        for await more in wanted {
            ends.merge(more.ends) { first, _ in first }
            if ends.count >= more.count { break }
        }
        var plan = Plan(
            windows: PastWindows(size: max(500, Self.records / max(1, ends.count))), reach: PastReach(of: ends.keys))
        var backoff = Backoff(atMost: .seconds(5))
        while !Task.isCancelled, store.takesPast {
            do {
                try await read(ends, &plan)
                break
            } catch {
                logger.warning(
                    "gateway.past-unreadable", "the token topic's past cannot be read; it is tried again",
                    metadata: [LogKey.kafkaError: "\(error)"])
            }
            // The loop's condition checks for cancellation.
            try? await Task.sleep(for: backoff.pause())
        }
        store.pastEnds()
    }

    private func read(_ ends: Ends, _ plan: inout Plan) async throws {
        let properties = KafkaProperties(configuration, bootstrapServers: brokers)
        let reader = try KafkaConsumer(
            properties.reader(group: "\(configuration.kafka.group)-pickup"), reading: [], logger: logger)
        try await reader.whileOpen { reader in
            if !plan.isBounded { try await bound(ends, reader, &plan) }
            // With the partitions' leaders known, the reader does not look them up twice.
            _ = try await reader.metadata(of: configuration.topics.tokens, within: Self.timeout)
            plan.resting = []
            let starts = plan.windows.open.compactMap { begin($0, &plan) }
            if !starts.isEmpty { try await reader.read(starts) }
            while !plan.windows.isEmpty, !Task.isCancelled, store.takesPast { try await step(reader, &plan) }
        }
    }

    /// Finds the first needed offset of each partition.
    private func bound(_ ends: Ends, _ reader: KafkaConsumer, _ plan: inout Plan) async throws {
        let partitions = Array(ends.keys)
        let bounds = try await reader.bounds(of: partitions, within: Self.timeout)
        guard bounds.count == partitions.count else {
            throw PickupError("a partition's leader does not return its first offset")
        }
        // Tokens older than the longest lifetime have expired.
        let longest = configuration.apps.map(\.lifetime).max() ?? 0
        let seconds = min(age.components.seconds, longest + 60)
        let since = now().milliseconds - seconds * 1000
        let known = (try? await reader.offsets(of: partitions, notBefore: since, within: Self.timeout)) ?? [:]
        plan.reach.since = UnixTime(milliseconds: since).microseconds
        for (partition, bounds) in bounds {
            // A partition without such an offset is read until its records are too old: its leader may only have failed
            // to answer.
            let low = known[partition] ?? bounds.lowerBound
            if low > bounds.lowerBound { plan.cut.insert(partition) }
            plan.windows.add(partition, low..<max(low, ends[partition] ?? low))
        }
        plan.isBounded = true
        let open = Set(plan.windows.open)
        for partition in partitions where !open.contains(partition) { end(partition, &plan) }
        store.pastReached(plan.reach.certain)
    }

    /// Begins the next window of `partition`.
    ///
    /// - Returns: the beginning of the window; nil where every needed record was read.
    private func begin(_ partition: TopicPartition, _ plan: inout Plan) -> PartitionOffset? {
        if plan.reach.isEnough(of: partition) {
            plan.cut.insert(partition)
            plan.windows.leave(partition)
        }
        if let start = plan.windows.begin(partition) { return PartitionOffset(partition, offset: start) }
        end(partition, &plan)
        return nil
    }

    private func end(_ partition: TopicPartition, _ plan: inout Plan) {
        plan.reach.end(partition, isWhole: !plan.cut.contains(partition))
    }

    private func step(_ reader: KafkaConsumer, _ plan: inout Plan) async throws {
        var moved: Set<TopicPartition> = []
        for event in await reader.events(limit: 2000, within: .milliseconds(500)) {
            switch event {
            case .record(let record):
                let partition = TopicPartition(record.position)
                guard !moved.contains(partition) else { continue }
                let finding = plan.windows.append(read(record), at: record.position.offset, of: partition)
                if finding == .ended { learn(partition, &plan) }
                if finding != .reading { moved.insert(partition) }
            case .endOfPartition(let partition, _):
                // An end that belongs to a finished window arrived together with the window's last record.
                guard moved.insert(partition).inserted else { continue }
                learn(partition, &plan)
            case .error(let error): if error.isFatal || error.batch != nil { throw error }
            case .rebalance: break
            }
        }
        guard !moved.isEmpty else { return }
        try await beginNextWindows(of: moved, reader, &plan)
        store.pastReached(plan.reach.certain)
    }

    /// Begins the next windows of the partitions `moved`, whose windows are finished, and of those that rest, as far as
    /// no other partition is behind. A client hands on what one partition has before it asks for the next one's.
    private func beginNextWindows(
        of moved: Set<TopicPartition>, _ reader: KafkaConsumer, _ plan: inout Plan
    ) async throws {
        let (rested, candidates) = (plan.resting, moved.union(plan.resting))
        // A window that is too large begins again at once.
        plan.resting = plan.reach.ahead(among: candidates).filter { !plan.windows.isReading($0) }
        var starts: [PartitionOffset] = []
        var ended: [TopicPartition] = []
        for partition in candidates.subtracting(plan.resting) {
            if let start = begin(partition, &plan) { starts.append(start) } else { ended.append(partition) }
        }
        let paused = plan.resting.subtracting(rested).union(ended)
        if !paused.isEmpty { try await reader.pause(Array(paused)) }
        try await reader.seek(to: starts)
        let resumed = rested.intersection(starts.map(\.partition))
        if !resumed.isEmpty { try await reader.resume(Array(resumed)) }
    }

    private func read(_ record: ConsumedRecord) -> PastRecord? {
        guard let key = record.body.key else { return nil }
        guard record.body.hasValue else { return .erasure(key: key, at: record.timestamp) }
        do throws(RecordFault) { return .token(try HeldToken(record.body, at: now()), key: key) } catch {
            unreadable.count(error, .tokens, at: record.position)
            return nil
        }
    }

    /// Applies the records of the window of `partition`, which was read to its last record.
    private func learn(_ partition: TopicPartition, _ plan: inout Plan) {
        let records = plan.windows.end(partition)
        for record in records { record.tell(store) }
        plan.reach.read(records, of: partition)
        noted(records.count(where: \.isToken))
    }
}

/// A record of the token topic's past.
enum PastRecord: Sendable {
    case token(HeldToken, key: [UInt8])
    /// The erasure of a subject's tokens, at a time in milliseconds since 1970; nil where the record states no time.
    case erasure(key: [UInt8], at: Int64?)

    var isToken: Bool { if case .token = self { true } else { false } }

    /// The version that a token published at the same time has; nil where it is unknown.
    var version: Int64? {
        switch self {
        case .token(let token, _): token.version
        case .erasure(_, let time):
            time.map { $0.multipliedReportingOverflow(by: 1000) }.flatMap { $0.overflow ? nil : $0.partialValue }
        }
    }

    func tell(_ store: TokenStore) {
        switch self {
        case .token(let token, let key): store.recalled(token, for: key)
        case .erasure(let key, _): store.erasedBefore(key, upTo: PastReach.latest(version ?? .max))
        }
    }
}

/// The progress of reading the token topic's past, and the version from which on no partition can hold a newer unread
/// token. A value without a broker.
///
/// A partition is read from its newest record to its oldest, and versions are times. So unread records are older than
/// those that were read, except for the disorder that workers' clocks and slow deliveries cause (`disorder`). Where
/// partitions were added to the topic, a subject's tokens are in several of them, so every partition counts for every
/// subject.
struct PastReach: Sendable {
    /// The longest time by which a record may be older than an earlier one of its partition, in microseconds: workers'
    /// clocks may differ by 15 seconds, and a delivery may take 30.
    static let disorder: Int64 = 60_000_000

    private struct Partition: Sendable {
        /// The highest version among the oldest records that were read; unread ones are older.
        var lowest = Int64.max
        /// The version that no unread record exceeds, once every needed record was read.
        var end: Int64?

        /// The version that no unread record exceeds, disorder aside.
        var reach: Int64 { end ?? lowest }
    }

    private var partitions: [TopicPartition: Partition]
    var since = Int64.min

    /// The reach before anything of `partitions` was read.
    init(of partitions: some Sequence<TopicPartition>) {
        self.partitions = Dictionary(partitions.map { ($0, Partition()) }) { first, _ in first }
    }

    /// Returns the highest version of a record that may be out of order with `version`.
    static func latest(_ version: Int64) -> Int64 {
        guard version > .min else { return .min }
        let (sum, isTooHigh) = version.addingReportingOverflow(disorder)
        return isTooHigh ? .max : sum
    }

    /// The version from which on a token that was read is its subject's newest.
    var certain: Int64 { partitions.values.map { Self.latest($0.reach) }.max() ?? .min }

    /// Returns those of `candidates` that were read so much further back than another partition that reading on would be
    /// in vain: the partition that was read back least decides which tokens count.
    func ahead(among candidates: Set<TopicPartition>) -> Set<TopicPartition> {
        guard let last = partitions.values.lazy.map(\.reach).max() else { return [] }
        return candidates.filter { candidate in
            partitions[candidate].map { Self.latest($0.reach) < last } ?? false
        }
    }

    /// Returns whether every needed record of `partition` was read: the rest is older.
    func isEnough(of partition: TopicPartition) -> Bool {
        partitions[partition].map { Self.latest($0.reach) < since } ?? true
    }

    /// Notes `records` of `partition`, the next ones before those read earlier. The highest of their versions counts,
    /// so that a single version that is much too low proves nothing.
    mutating func read(_ records: [PastRecord], of partition: TopicPartition) {
        guard let version = records.lazy.compactMap(\.version).max(), let known = partitions[partition]?.lowest else {
            return
        }
        partitions[partition]?.lowest = min(known, version)
    }

    /// Notes that every needed record of `partition` was read.
    ///
    /// - Parameter isWhole: whether it was read to its first record.
    mutating func end(_ partition: TopicPartition, isWhole: Bool) {
        partitions[partition]?.end = isWhole ? .min : since
    }
}

/// The windows in which partitions are read from their newest record to their oldest. A log can only be read forward,
/// so a window is read forward and handed on backward; then comes the window before it. A value without a broker.
struct PastWindows<Record: Sendable>: Sendable {
    /// The state of a window after a record.
    enum Finding: Equatable, Sendable {
        case reading
        case ended
        /// The window holds too many records; a smaller one begins at a later offset.
        case tooLarge
    }

    private struct Partition: Sendable {
        /// The first offset to read.
        let low: Int64
        /// The first offset that was read already.
        var below: Int64
        /// The length of a window, in offsets; a compacted log has few records in many offsets.
        var width: Int64
        /// The first offset of the window that is being read; nil between two windows.
        var start: Int64?
        var records: [Record] = []
    }

    /// The maximum number of offsets in a window.
    private static var widest: Int64 { 1 << 20 }
    /// The wanted number of records in a window.
    private let size: Int
    private var partitions: [TopicPartition: Partition] = [:]

    init(size: Int) { self.size = max(1, size) }

    var isEmpty: Bool { partitions.isEmpty }

    var open: [TopicPartition] { Array(partitions.keys) }

    func isReading(_ partition: TopicPartition) -> Bool { partitions[partition]?.start != nil }

    /// Adds `partition`, of which the offsets in `range` must be read.
    mutating func add(_ partition: TopicPartition, _ range: Range<Int64>) {
        guard !range.isEmpty else { return }
        partitions[partition] = Partition(low: range.lowerBound, below: range.upperBound, width: Int64(size))
    }

    /// Begins the next window of `partition`, the newest that was not read.
    ///
    /// - Returns: the window's first offset; nil where everything was read.
    mutating func begin(_ partition: TopicPartition) -> Int64? {
        guard var part = partitions[partition] else { return nil }
        guard part.below > part.low else {
            partitions[partition] = nil
            return nil
        }
        part.records = []
        let start = max(part.low, part.below - part.width)
        part.start = start
        partitions[partition] = part
        return start
    }

    mutating func leave(_ partition: TopicPartition) { partitions[partition] = nil }

    /// Adds the record at `offset` of `partition`; nil for a record of no use.
    mutating func append(_ record: Record?, at offset: Int64, of partition: TopicPartition) -> Finding {
        guard let part = partitions[partition], let start = part.start else { return .reading }
        guard offset < part.below else { return .ended }
        guard offset >= start else { return .reading }
        if let record { partitions[partition]?.records.append(record) }
        if part.records.count >= 4 * size, part.width > Int64(size) {
            partitions[partition]?.width = Int64(size)
            return .tooLarge
        }
        return RecordPosition.next(after: offset) < part.below ? .reading : .ended
    }

    /// Ends the window of `partition`, which was read to its last record.
    ///
    /// - Returns: the window's records, the newest first.
    mutating func end(_ partition: TopicPartition) -> [Record] {
        guard var part = partitions[partition], let start = part.start else { return [] }
        let records = part.records
        if records.count < size / 2 { part.width = min(part.width * 2, Self.widest) }
        if records.count > size { part.width = max(Int64(size), part.width / 2) }
        part.below = start
        part.start = nil
        part.records = []
        partitions[partition] = part
        return records.reversed()
    }
}
