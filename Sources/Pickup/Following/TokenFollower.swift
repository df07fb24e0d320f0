import AdapterKit
import Kafka
import Logging
import Pipeline
import Synchronization
import Telemetry
import Worker
import WorkerConfiguration

/// Follows what workers publish: the token topic from some age on, dead letters from now on, and which apps wait.
final class TokenFollower: Sendable {
    private struct State {
        /// Partitions that were not read to their end yet.
        var behind: Set<TopicPartition> = []
        var isFollowing = false
        /// Whether all was read once that there was at the start.
        var hasCaughtUp = false
        /// Where reading goes on when it begins anew.
        var next: [TopicPartition: Int64] = [:]
        var records = 0
    }

    private static let timeout = Duration.seconds(15)
    private let configuration: Configuration
    private let age: Duration
    private let brokers: String
    private let logger: Logger
    private let now: @Sendable () -> UnixTime
    private let desk: TokenDesk
    private let unreadable: UnreadableRecords
    private let state = Mutex(State())

    init(
        _ configuration: Configuration, age: Duration, brokers: String, desk: TokenDesk,
        unreadable: UnreadableRecords, logger: Logger, now: @escaping @Sendable () -> UnixTime
    ) {
        self.configuration = configuration
        self.age = age
        self.brokers = brokers
        self.desk = desk
        self.unreadable = unreadable
        self.logger = logger
        self.now = now
    }

    /// How many partitions were not read to their end yet; nil where nothing is followed.
    var behind: Int? { state.withLock { $0.isFollowing ? $0.behind.count : nil } }
    /// Whether all was read once that there was at the start. Until then the newest token of a subject may not be known, and an
    /// older one would be taken for it.
    var hasCaughtUp: Bool { state.withLock { $0.hasCaughtUp } }
    /// Which partitions are followed live, and since when no broker answers.
    var tail: TailState {
        state.withLock { state in
            guard state.isFollowing else { return TailState() }
            let tokens = state.next.keys.filter { $0.topic == configuration.topics.tokens }
            return TailState(
                partitions: tokens.count,
                followed: Set(tokens.filter { !state.behind.contains($0) }.map(\.partition)))
        }
    }
    /// How many records were read.
    var records: Int { state.withLock { $0.records } }

    /// Follows until the task is cancelled; where the brokers fail it goes on where it was.
    func run() async {
        var backoff = Backoff(atMost: .seconds(5))
        while !Task.isCancelled {
            do {
                try await follow { backoff.reset() }
            } catch {
                logger.warning(
                    "the topics cannot be followed; it is tried again", metadata: [LogKey.kafkaError: "\(error)"])
            }
            state.withLock { $0.isFollowing = false }
            // A cancellation is looked at above.
            try? await Task.sleep(for: backoff.pause())
        }
    }

    private func follow(_ began: () -> Void) async throws {
        let properties = KafkaProperties(configuration, bootstrapServers: brokers)
        let reader = try KafkaConsumer(
            properties.reader(group: "\(configuration.kafka.group)-pickup"), reading: [], logger: logger)
        do {
            let starts = try await starts(reader)
            state.withLock { state in
                state.behind = Set(starts.map(\.partition).filter { $0.topic == configuration.topics.tokens })
                state.isFollowing = true
                for start in starts { state.next[start.partition] = start.offset }
            }
            try await reader.read(starts)
            began()
            while !Task.isCancelled {
                for event in await reader.events(limit: 2000, within: .milliseconds(500)) {
                    switch event {
                    case .record(let record): took(record)
                    case .endOfPartition(let partition): ended(partition)
                    case .error(let error): if error.isFatal { throw error }
                    case .rebalance: break
                    }
                }
            }
            await reader.close(within: .seconds(1))
        } catch {
            await reader.close(within: .seconds(1))
            throw error
        }
    }

    private func ended(_ partition: TopicPartition) {
        state.withLock { state in
            state.behind.remove(partition)
            if state.behind.isEmpty { state.hasCaughtUp = true }
        }
    }

    /// Where it was, or at first: tokens from their age on, dead letters from the end on, the control topic whole.
    private func starts(_ reader: KafkaConsumer) async throws -> [PartitionOffset] {
        let topics = configuration.topics
        let tokens = try await partitions(of: topics.tokens, reader)
        let since = now().milliseconds - age.components.seconds * 1000
        // A broker that does not know times is read from the beginning.
        let known = (try? await reader.offsets(of: tokens, notBefore: since, within: Self.timeout)) ?? [:]
        var starts = tokens.map { PartitionOffset($0, offset: known[$0] ?? 0) }
        for partition in tokens where known[partition] == nil && !known.isEmpty {
            // The newest record is older: there is nothing to read but what is to come.
            let end = try await reader.bounds(of: partition, within: Self.timeout).upperBound
            starts.removeAll { $0.partition == partition }
            starts.append(PartitionOffset(partition, offset: end))
        }
        for partition in try await partitions(of: topics.deadLetters, reader) {
            let end = try await reader.bounds(of: partition, within: Self.timeout).upperBound
            starts.append(PartitionOffset(partition, offset: end))
        }
        starts += ((try? await partitions(of: topics.control, reader)) ?? []).map { PartitionOffset($0, offset: 0) }
        let next = state.withLock { $0.next }
        return starts.map { PartitionOffset($0.partition, offset: next[$0.partition] ?? $0.offset) }
    }

    private func partitions(of topic: String, _ reader: KafkaConsumer) async throws -> [TopicPartition] {
        let count = try await reader.metadata(of: topic, within: Self.timeout).partitionCount
        guard count > 0 else { throw PickupError("the topic \(topic) does not exist or may not be read") }
        return (0..<count).map { TopicPartition(topic: topic, partition: Int32(clamping: $0)) }
    }

    private func took(_ record: ConsumedRecord) {
        let topics = configuration.topics
        let isToken = record.position.topic == topics.tokens
        state.withLock { state in
            let position = record.position
            state.next[TopicPartition(topic: position.topic, partition: position.partition)] = position.nextOffset
            if isToken { state.records += 1 }
        }
        do throws(RecordFault) {
            let read = try FollowedRecord(record.body, at: record.position, configuration, now: now()) {
                desk.room.isAwaited($0)
            }
            switch read {
            case .token(let token, let key): desk.published(token, for: key)
            case .erased(let key): desk.erased(key)
            case .letter(let letter, let key): desk.died(letter, key: key)
            case .app(let control): desk.held(control.app, control.suspension)
            case .other: break
            }
        } catch {
            unreadable.count(error, FollowedRecord.kind(of: record.position.topic, topics), at: record.position)
        }
    }
}
