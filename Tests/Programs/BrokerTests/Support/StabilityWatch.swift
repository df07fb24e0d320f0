import AsyncTestSupport
import Kafka

/// The partitions in which open transactions keep `read_committed` readers waiting: their last stable offset stays
/// behind the end.
struct StabilityWatch {
    private let partitions: [TopicPartition]
    private let stable: KafkaConsumer
    private let written: KafkaConsumer

    init(_ partitions: [TopicPartition]) throws {
        self.partitions = partitions
        stable = try Cluster.makeReader(of: partitions)
        written = try Cluster.makeReader(of: partitions, isolation: .uncommitted)
    }

    /// The partitions that do not move on during the given number of looks.
    func partitionsHeldBack(looks: Int) async throws -> Set<TopicPartition> {
        var first: [TopicPartition: Int64] = [:]
        for look in 0..<looks {
            for partition in look == 0 ? partitions : Array(first.keys) {
                let offset = try await stable.bounds(of: partition, within: .seconds(10)).upperBound
                let end = try await written.bounds(of: partition, within: .seconds(10)).upperBound
                let isHeld = offset < end && offset == first[partition, default: offset]
                first[partition] = isHeld ? offset : nil
            }
            if first.isEmpty { break }
        }
        return Set(first.keys)
    }

    /// Waits until every transaction is over; the broker aborts an abandoned one after its timeout.
    func waitUntilStable() async throws {
        try await eventually("the end of every transaction", within: .seconds(240)) {
            try await partitionsHeldBack(looks: 1).isEmpty
        }
    }

    func close() async {
        await stable.close(within: .seconds(2))
        await written.close(within: .seconds(2))
    }
}
