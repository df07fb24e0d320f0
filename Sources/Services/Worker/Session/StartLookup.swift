import AdapterKit
import Kafka
import Pipeline
import ServiceLifecycle
import Wiring

/// The questions to the brokers on which the starts of assigned partitions depend. They are asked in the background, so that the other
/// lanes go on.
struct StartLookup: Sendable {
    struct Answers: Sendable {
        var committed: [PartitionOffset] = []
        var views: [TopicPartition: PartitionLogs.View] = [:]
        /// The highest version on the token topic; nil where none is known.
        var floor: Int64?
    }

    enum Finding: Sendable {
        /// The answers; nil where the group moved on meanwhile or the worker stops, so that nothing is read.
        case answers(Answers?)
        /// The brokers did not answer in time.
        case failed(KafkaError)
    }

    /// The time that a session may take to learn where its partitions begin. A predecessor's transaction hides its offsets for up to
    /// 15 seconds.
    private static let timeout = Duration.seconds(45)

    let lane: Lane
    let consumer: KafkaConsumer
    let logs: PartitionLogs
    /// Returns the highest version on the token topic, which others may have written.
    let versions: @Sendable () async -> Int64?
    let context: SessionContext

    /// Asks about `partitions` until the brokers answer.
    func run(_ partitions: [TopicPartition]) async -> Finding {
        // All at once, because the partitions wait meanwhile.
        async let floor = versions()
        let end = ContinuousClock.now + Self.timeout
        while true {
            do throws(KafkaError) {
                var answers = try await ask(partitions)
                answers.floor = await floor
                return .answers(answers)
            } catch {
                if await consumer.isAssignmentLost || Task.isShuttingDownGracefully || Task.isCancelled {
                    return .answers(nil)
                }
                guard !error.isFatal, .now < end, !context.requests.isRenewalWanted else { return .failed(error) }
                context.observer.startsUnknown(lane, error)
            }
            try? await Task.sleep(for: .milliseconds(250))
        }
    }

    private func ask(_ partitions: [TopicPartition]) async throws(KafkaError) -> Answers {
        let committed = try await consumer.committedOffsets(partitions, within: PartitionLogs.timeout)
        return Answers(committed: committed, views: try await logs.views(of: partitions, asking: consumer))
    }
}
