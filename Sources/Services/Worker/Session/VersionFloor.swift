import AdapterKit
import Kafka
import Logging
import Pipeline
import Wiring
import WorkerConfiguration

/// The highest version among the latest tokens on the token topic.
///
/// Versions are times, and clocks differ and are set back. So a worker that begins, or gets another worker's
/// partitions, continues above the last published version; a subject's versions only grow.
struct VersionFloor: Sendable {
    /// The number of offsets before a partition's end that are read. Some are marks of transactions, which no reader
    /// sees.
    private static let tail: Int64 = 20
    private static let timeout = Duration.seconds(5)

    let configuration: Configuration
    let properties: ClientProperties
    let logger: Logger
    private let observer: SessionObserver
    private let now: @Sendable () -> UnixTime
    private let unreadable: UnreadableRecords

    init(_ context: SessionContext, bootstrapServers: String) {
        configuration = context.configuration
        logger = context.clientLogger
        observer = context.observer
        now = context.now
        unreadable = context.unreadable
        properties = KafkaProperties(configuration, bootstrapServers: bootstrapServers).reader(
            group: "\(configuration.kafka.group)-versions")
    }

    /// Reads it; nil where there is no token, or the token topic cannot be read, which is logged.
    ///
    /// - Parameter partitions: The number of partitions of the token topic.
    func read(partitions: Int) async -> Int64? {
        let topic = configuration.topics.tokens
        let all = (0..<partitions).map { TopicPartition(topic: topic, partition: Int32(clamping: $0)) }
        do throws(KafkaError) {
            let reader = try KafkaConsumer(properties, reading: [], logger: logger)
            // Partitions wait for the answer, and not for the client's end.
            let found = try await reader.whileOpen(closingWithin: .zero) { reader throws(KafkaError) in
                try await highest(in: all, of: topic, reader)
            }
            if !found.isComplete { observer.versionsIncomplete() }
            return found.version
        } catch {
            observer.versionsUnknown(topic, error)
            return nil
        }
    }

    private func highest(
        in partitions: [TopicPartition], of topic: String, _ reader: KafkaConsumer
    ) async throws(KafkaError) -> (version: Int64?, isComplete: Bool) {
        // A reader that knows where the partitions are does not look for them twice.
        _ = try await reader.metadata(of: topic, within: Self.timeout)
        // An offset before the end, as a number: a library that is to find it may look again half a second later.
        let bounds = try await reader.bounds(of: partitions, within: Self.timeout)
        let starts = bounds.filter { !$0.value.isEmpty }.map {
            PartitionOffset($0.key, offset: max($0.value.lowerBound, $0.value.upperBound - Self.tail))
        }
        let isComplete = bounds.count == partitions.count
        guard !starts.isEmpty else { return (nil, isComplete) }
        var highest: Int64?
        do throws(KafkaError) {
            try await reader.scan(starts, within: Self.timeout) { record in
                if let version = version(of: record) { highest = max(highest ?? version, version) }
                return true
            }
        } catch { return (highest, false) }
        return (highest, isComplete)
    }

    /// Returns the version of the token in `record`; nil for a tombstone and for a record that is no token's.
    private func version(of record: ConsumedRecord) -> Int64? {
        guard record.body.hasValue else { return nil }
        do throws(RecordFault) { return try TokenRecord(record.body, at: now()).version } catch {
            unreadable.count(error, .tokens, at: record.position)
            return nil
        }
    }
}
