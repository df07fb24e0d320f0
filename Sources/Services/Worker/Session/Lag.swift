import Kafka
import Pipeline
import Synchronization

/// The number of records that wait in the assigned partitions, from their assignment on: before a first fetch, it is the
/// difference between the start and the end of each partition at that time.
struct AssignedLag {
    private var begun: [TopicPartition: Range<Int64>] = [:]

    /// Notes that `partition` is assigned.
    ///
    /// - Parameters:
    ///   - start: the offset at which the worker begins.
    ///   - end: the offset that the partition's next record gets.
    mutating func begin(_ partition: TopicPartition, at start: Int64, end: Int64) {
        begun[partition] = start..<max(start, end)
    }

    /// Notes that `partitions` are no longer assigned.
    mutating func drop(_ partitions: some Sequence<TopicPartition>) {
        for partition in partitions { begun[partition] = nil }
    }

    /// Returns the number of records that the worker has not finished, for each of `partitions`.
    ///
    /// - Parameters:
    ///   - ends: the ends of the partitions that the last fetch learned.
    ///   - positions: the next unfinished record of each partition that returned a record.
    func records(
        of partitions: Set<TopicPartition>, ends: [TopicPartition: Int64], positions: [TopicPartition: Int64]
    ) -> [TopicPartition: Int64] {
        partitions.reduce(into: [:]) { records, partition in
            let start = begun[partition]
            let position = positions[partition] ?? start?.lowerBound
            let end = ends[partition] ?? start?.upperBound
            records[partition] = if let position, let end { max(0, end - position) } else { 0 }
        }
    }
}

/// The number of events in paused lanes. The worker fetches nothing from them, so no fetch reports where they end.
final class RestingLag: Sendable {
    private struct State {
        var nextQuestion = ContinuousClock.now
        var isAsking = false
        var lag: [TopicPartition: Int64] = [:]
    }

    private static let interval = Duration.seconds(5)

    private let lanes = PerLane { _ in LaneLag() }

    /// Returns the brokers' last answer about the partitions of `lane`; empty before the first answer.
    func known(_ lane: Lane) -> [TopicPartition: Int64] { lanes[lane].state.withLock { $0.lag } }

    /// Discards the answer about `lane`, which is no longer paused.
    func forget(_ lane: Lane) { lanes[lane].state.withLock { $0.lag = [:] } }

    /// Returns whether a question about `lane` is due; a caller that gets true must call `ask`.
    func isDue(_ lane: Lane) -> Bool {
        lanes[lane].state.withLock { state in
            guard !state.isAsking, .now >= state.nextQuestion else { return false }
            state.isAsking = true
            return true
        }
    }

    /// Asks the brokers about the partitions that `consumer` has of `lane`.
    func ask(_ lane: Lane, _ consumer: KafkaConsumer) async {
        let partitions = Array(await consumer.assignedPartitions)
        let lag = try? await consumer.lag(of: partitions, within: .seconds(1))
        lanes[lane].state.withLock { state in
            if let lag { state.lag = lag }
            state.isAsking = false
            state.nextQuestion = .now + Self.interval
        }
    }

    private final class LaneLag: Sendable {
        let state = Mutex(State())
    }
}
