import AdapterKit
import HTTPTransport
import Kafka
import Logging
import Pipeline
import Synchronization
import Telemetry
import Wiring
import WorkerConfiguration

/// Follows the records that workers publish: tokens, dead letters and suspensions, from now on. `TopicPast` reads the
/// token topic's older records.
final class TokenFollower: Sendable {
    private struct State {
        var hasBegun = false
        var offsets = FollowedOffsets()
        var records = 0
    }

    private static let timeout = Duration.seconds(2)
    private static let interval = Duration.seconds(2)
    private let configuration: Configuration
    private let brokers: String
    private let logger: Logger
    private let now: @Sendable () -> UnixTime
    private let store: TokenStore
    private let past: TopicPast
    private let unreadable: UnreadableRecords
    private let state = Mutex(State())
    private let isRenewalDue = Atomic(false)
    private let outage: FollowingOutage
    /// This clock beside those that date tokens' records.
    let clock: FollowedClock

    init(
        _ configuration: Configuration, brokers: String, store: TokenStore, past: TopicPast,
        unreadable: UnreadableRecords, logger: Logger, now: @escaping @Sendable () -> UnixTime
    ) {
        self.configuration = configuration
        self.brokers = brokers
        self.store = store
        self.past = past
        self.unreadable = unreadable
        self.logger = logger
        self.now = now
        outage = FollowingOutage(logger)
        clock = FollowedClock(now: now)
    }

    /// The partitions that are followed live, and the time since which no broker answers.
    var tail: TailState { store.tail }
    /// Whether the token topic was followed at least once. Before that, a newly minted token would not arrive.
    var hasBegun: Bool { state.withLock { $0.hasBegun } }
    /// The pause of the live lane; nil while its events are taken.
    var lanePause: LanePause? { store.lanePause }
    /// Whether a worker published a token, or handled an ask, since the start.
    var hasSeenWorkers: Bool { records > 0 || store.hasSeenProgress }
    /// The number of tokens' records that were read since the start.
    var records: Int { state.withLock { $0.records } }

    /// Follows until the task is canceled. After a failure of the brokers it continues where it stopped.
    func run() async {
        // The end does not wait for this task: brokers that do not answer would delay the gateway's stop.
        let watch = Task.detached { await self.watchLogs() }
        defer { watch.cancel() }
        var backoff = Backoff(atMost: .seconds(5))
        while !Task.isCancelled {
            do { try await follow { backoff.reset() } } catch { outage.failed(error) }
            store.changeTail { ($0.followed, $0.read) = ([], [:]) }
            // The loop's condition checks for cancellation.
            try? await Task.sleep(for: backoff.pause())
        }
    }

    /// Replaces the client, because the files of its certificates changed.
    func renew() { isRenewalDue.store(true, ordering: .relaxed) }

    private func follow(_ began: () -> Void) async throws {
        let properties = KafkaProperties(configuration, bootstrapServers: brokers)
        let reader = try KafkaConsumer(
            properties.reader(group: "\(configuration.kafka.group)-pickup")
                // A record is handed on when it arrives; an empty answer of the broker is of no use.
                .merging(["fetch.wait.max.ms": "250"]), reading: [], logger: logger)
        try await reader.whileOpen { reader in try await follow(reader, began) }
    }

    private func follow(_ reader: KafkaConsumer, _ began: () -> Void) async throws {
        do {
            var followed: Set<TopicPartition> = []
            try await look(reader, &followed, isWhole: true)
            outage.succeeded()
            began()
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await self.read(reader) }
                group.addTask { [followed] in try await self.watch(reader, followed) }
                try await group.next()
                group.cancelAll()
            }
        } catch {
            if error is KafkaError { store.changeTail { $0.silentSince = $0.silentSince ?? now() } }
            throw error
        }
    }

    /// Checks whether a topic was created again under its name: otherwise the reader would miss tokens and pauses in
    /// the part that it skips.
    private func watchLogs() async {
        let properties = KafkaProperties(configuration, bootstrapServers: brokers)
        let topics = configuration.topics
        var watch = TopicWatch(
            properties, group: "\(configuration.kafka.group)-pickup", logger: logger, now: now)
        while !Task.isCancelled {
            let replaced = await watch.look(at: [topics.tokens, topics.deadLetters, topics.control])
            for topic in replaced {
                logger.error(
                    "gateway.topic-recreated",
                    "a topic that is followed was deleted and created again; it is read from its start",
                    metadata: [LogKey.topic: "\(topic)"])
            }
            state.withLock { $0.offsets.replace(replaced) }
            // The loop's condition checks for cancellation.
            try? await Task.sleep(for: TopicWatch.interval)
        }
    }

    private func read(_ reader: KafkaConsumer) async throws {
        while !Task.isCancelled, !isRenewalDue.exchange(false, ordering: .relaxed),
            !(state.withLock { $0.offsets.takeReplaced() })
        {
            for event in await reader.events(limit: 2000, within: .milliseconds(500)) {
                switch event {
                case .record(let record): took(record)
                case .endOfPartition(let partition, let offset): caughtUp(partition, at: offset)
                case .error(let error):
                    if error.code == .allBrokersDown { store.changeTail { $0.silentSince = $0.silentSince ?? now() } }
                    if error.isFatal { throw error }
                    if let batch = error.batch { try await pass(batch, reader) }
                case .rebalance: break
                }
            }
        }
    }

    /// Continues behind the record batch at `place`, which cannot be unpacked: the tokens of all users behind it count more.
    private func pass(_ place: RecordPosition, _ reader: KafkaConsumer) async throws {
        let properties = KafkaProperties(configuration, bootstrapServers: brokers)
        let end = try await KafkaConsumer.end(
            ofBatchAt: place, properties.reader(group: "\(configuration.kafka.group)-pickup"), within: .seconds(10),
            logger: logger)
        let partition = TopicPartition(place)
        try await reader.seek(to: [PartitionOffset(partition, offset: end)])
        state.withLock { $0.offsets.reached(end, of: partition) }
        unreadable.count(.malformed, FollowedRecord.kind(of: place.topic, configuration.topics), at: place)
    }

    /// Asks regularly for a broker's answer and for the partitions.
    private func watch(_ reader: KafkaConsumer, _ followed: Set<TopicPartition>) async throws {
        var followed = followed
        var looks = 0
        while !Task.isCancelled {
            try await Task.sleep(for: store.tail.silentSince == nil ? Self.interval : Self.interval / 4)
            looks += 1
            do {
                try await look(reader, &followed, isWhole: looks % 10 == 0)
                outage.succeeded()
            } catch let error as KafkaError {
                store.changeTail { $0.silentSince = $0.silentSince ?? now() }
                if error.isFatal { throw error }
            } catch let error as PickupError {
                // A topic was deleted, or a partition lost its leader; the next round looks again.
                outage.failed(error)
            }
        }
    }

    /// Asks a broker for the partitions, and follows those that have a leader and are not followed yet.
    ///
    /// - Parameter isWhole: whether to ask about the other topics too.
    private func look(_ reader: KafkaConsumer, _ followed: inout Set<TopicPartition>, isWhole: Bool) async throws {
        let topics = configuration.topics
        var present: [TopicMetadata] = [try await reader.metadata(of: topics.tokens, within: Self.timeout)]
        store.changeTail { $0.silentSince = nil }
        guard present[0].partitionCount > 0, present[0].error?.code.isAboutReading != true else {
            // The topic may have been deleted while it was followed: no token arrives until there is another one.
            store.changeTail { ($0.partitions, $0.followed, $0.leaderless, $0.isMissing) = (nil, [], [], true) }
            throw PickupError("the topic \(topics.tokens) does not exist or may not be read")
        }
        store.changeTail { $0.isMissing = false }
        if isWhole {
            let letters = try await reader.metadata(of: topics.deadLetters, within: Self.timeout)
            guard letters.partitionCount > 0 else {
                throw PickupError("the topic \(topics.deadLetters) does not exist or may not be read")
            }
            present.append(letters)
            if let control = try? await reader.metadata(of: topics.control, within: Self.timeout) {
                present.append(control)
            }
        }
        let led = present.flatMap { topic in
            (0..<Int32(clamping: topic.partitionCount)).lazy.filter { !topic.leaderless.contains($0) }
                .map { TopicPartition(topic: topic.name, partition: $0) }
        }
        let fresh = led.filter { !followed.contains($0) }
        if !fresh.isEmpty {
            followed.formUnion(try await begin(fresh, reader, present))
        }
        let tokens = followed.filter { $0.topic == topics.tokens }.map(\.partition)
        let behind = state.withLock { Set($0.offsets.behind.map(\.partition)) }
        store.changeTail { [present] tail in
            tail.partitions = present[0].partitionCount
            tail.leaderless = present[0].leaderless
            // A partition without a leader delivers nothing.
            tail.followed = Set(tokens).subtracting(behind).subtracting(present[0].leaderless)
        }
    }

    /// Follows `partitions` from their next offsets. New partitions are followed from their end; those that were added
    /// to their topic since the start are followed from their first record.
    ///
    /// - Returns: the partitions that are followed now.
    private func begin(_ partitions: [TopicPartition], _ reader: KafkaConsumer, _ present: [TopicMetadata]) async throws
        -> [TopicPartition]
    {
        let topics = configuration.topics
        let (next, counts) = state.withLock { state in
            state.offsets.saw(present)
            return (state.offsets.next, state.offsets.counts)
        }
        let fromEnd = partitions.filter {
            next[$0] == nil && $0.topic != topics.control && Int($0.partition) < counts[$0.topic] ?? 0
        }
        // A partition whose leader does not answer is left for the next round.
        let ends =
            fromEnd.isEmpty
            ? [:] : (try? await reader.offsets(of: fromEnd, notBefore: -1, within: Self.timeout)) ?? [:]
        let starts = partitions.compactMap { partition -> PartitionOffset? in
            guard let offset = next[partition] ?? ends[partition] ?? (fromEnd.contains(partition) ? nil : 0) else {
                return nil
            }
            return PartitionOffset(partition, offset: offset)
        }
        guard !starts.isEmpty else { throw PickupError("the ends of the partitions of \(topics.tokens) are unknown") }
        let before = ends.filter { $0.key.topic == topics.tokens }
        if !before.isEmpty { store.tailBegins() }
        state.withLock { $0.offsets.begin(starts, of: topics.tokens) }
        // Added once, whatever happens to this reader: the next one continues from these ends.
        if !before.isEmpty { past.add(before, of: counts[topics.tokens] ?? before.count) }
        try await reader.readAlso(starts)
        if starts.contains(where: { $0.partition.topic == topics.tokens }) { state.withLock { $0.hasBegun = true } }
        return starts.map(\.partition)
    }

    private func caughtUp(_ partition: TopicPartition, at offset: Int64) {
        let wasBehind = state.withLock { $0.offsets.caughtUp(partition) }
        if wasBehind { store.changeTail { _ = $0.followed.insert(partition.partition) } }
        if partition.topic == configuration.topics.tokens { store.changeTail { $0.read[partition] = offset } }
    }

    private func took(_ record: ConsumedRecord) {
        let topics = configuration.topics
        let isToken = record.position.topic == topics.tokens
        state.withLock { state in
            let partition = TopicPartition(record.position)
            state.offsets.reached(record.position.nextOffset, of: partition)
            guard isToken else { return }
            state.records += 1
            // A record of a partition that is behind is as old as the outage.
            guard let published = record.timestamp, !state.offsets.behind.contains(partition) else { return }
            clock.record(UnixTime(milliseconds: published))
        }
        do throws(RecordFault) {
            let read = try FollowedRecord(record.body, at: record.position, configuration, now: now()) {
                store.waiters.isAwaited($0)
            }
            switch read {
            case .token(let token, let key): store.published(token, for: key)
            case .erased(let key): store.erased(key)
            case .letter(let letter, let key): store.died(letter, key: key)
            case .app(let control): store.held(control.app, control.suspension)
            case .lane(let pause): store.heldLane(pause)
            case .other: break
            }
        } catch {
            unreadable.count(error, FollowedRecord.kind(of: record.position.topic, topics), at: record.position)
        }
    }
}

/// The gateway's clock beside the clocks that date tokens' records. The gateway judges sessions by its own.
final class FollowedClock: Sendable {
    private let state: Mutex<(comparison: ClockComparison, steps: ClockSteps)>
    private let start = ContinuousClock.now
    private let now: @Sendable () -> UnixTime

    init(now: @escaping @Sendable () -> UnixTime) {
        self.now = now
        state = Mutex((ClockComparison(), ClockSteps(at: now(), elapsed: .zero)))
    }

    /// The lead over those clocks, in microseconds; nil where they agree or it is unknown.
    var difference: Int64? { state.withLock { $0.comparison.difference(at: now()) } }

    /// Whether this clock may be wrong: it differs from those clocks, or was set since it last agreed with them.
    var isInDoubt: Bool {
        let (time, elapsed) = (now(), ContinuousClock.now - start)
        return state.withLock { state in
            state.comparison.difference(at: time) != nil || state.steps.isSet(time, elapsed: elapsed)
        }
    }

    /// Notes that a record was dated `moment` just now.
    func record(_ moment: UnixTime) {
        let (time, elapsed) = (now(), ContinuousClock.now - start)
        state.withLock { state in
            if state.comparison.record(moment, at: time) { state.steps.agreed(time, elapsed: elapsed) }
        }
    }
}

/// The log of times in which the topics cannot be followed: one line for each reason, and one at the end.
private final class FollowingOutage: Sendable {
    private let logger: Logger
    private let start = ContinuousClock.now
    private let state = Mutex(Outage())

    init(_ logger: Logger) { self.logger = logger }

    /// Records that the topics cannot be followed.
    func failed(_ error: any Error) {
        let elapsed = elapsed
        guard case .failed(let reason)? = state.withLock({ $0.failed("\(error)", at: elapsed) }) else { return }
        logger.warning(
            "gateway.topics-unreadable", "the topics cannot be followed; it is tried again",
            metadata: [LogKey.kafkaError: "\(reason)"])
    }

    func succeeded() {
        let elapsed = elapsed
        guard case .recovered(let length)? = state.withLock({ $0.succeeded(at: elapsed) }) else { return }
        logger.notice(
            "gateway.topics-readable", "the topics are followed again",
            metadata: [LogKey.outage: "\(Outage.text(length))"])
    }

    private var elapsed: Duration { .now - start }
}

/// The places up to which a follower has read its partitions. They outlive a reader: the next one continues there.
private struct FollowedOffsets {
    /// The next offset of each partition that is or was followed.
    private(set) var next: [TopicPartition: Int64] = [:]
    /// The partitions that continue where reading stopped, and whose end is not reached yet.
    private(set) var behind: Set<TopicPartition> = []
    /// The number of partitions of a topic when it was first seen: later ones are read from their first record.
    private(set) var counts: [String: Int] = [:]
    /// The topics that were created again, and must be read from their start.
    private var replaced: Set<String> = []

    /// Notes `topics` as they are when they are first seen.
    mutating func saw(_ topics: [TopicMetadata]) {
        for topic in topics where counts[topic.name] == nil { counts[topic.name] = topic.partitionCount }
    }

    /// Notes that reading begins at `starts`. A partition of `tokens` that was followed before may be behind.
    mutating func begin(_ starts: [PartitionOffset], of tokens: String) {
        for start in starts {
            if next[start.partition] != nil, start.partition.topic == tokens { behind.insert(start.partition) }
            next[start.partition] = start.offset
        }
    }

    mutating func reached(_ offset: Int64, of partition: TopicPartition) { next[partition] = offset }

    /// Notes that the end of `partition` was reached.
    ///
    /// - Returns: whether the partition was behind.
    mutating func caughtUp(_ partition: TopicPartition) -> Bool { behind.remove(partition) != nil }

    mutating func replace(_ topics: [String]) { replaced.formUnion(topics) }

    /// Returns whether a reader must begin again, at the start of topics that were created again.
    mutating func takeReplaced() -> Bool {
        let topics = replaced
        replaced = []
        for partition in next.keys where topics.contains(partition.topic) { next[partition] = 0 }
        return !topics.isEmpty
    }
}
