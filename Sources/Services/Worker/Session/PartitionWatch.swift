import Kafka
import Pipeline

/// The paused partitions, so that the worker calls the consumers only for changes.
struct PartitionWatch {
    enum Paused: Equatable {
        case everything
        case some(Set<TopicPartition>)
    }

    private var applied = PerLane<Paused?> { _ in nil }

    mutating func forget(_ lane: Lane) { applied[lane] = nil }

    /// Pauses the partitions of `paused` and resumes the rest.
    mutating func apply(_ paused: Paused, to consumer: KafkaConsumer, _ lane: Lane) async throws(KafkaError) {
        guard applied[lane] != paused else { return }
        let assigned = await consumer.assignedPartitions
        let wanted: Set<TopicPartition> =
            switch paused {
            case .everything: assigned
            case .some(let partitions): partitions
            }
        try await consumer.pause(wanted)
        try await consumer.resume(assigned.subtracting(wanted))
        applied[lane] = paused
    }
}
