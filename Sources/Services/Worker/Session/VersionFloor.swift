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
        var open = Set(bounds.filter { !$0.value.isEmpty }.keys)
        let isComplete = bounds.count == partitions.count
        guard !open.isEmpty else { return (nil, isComplete) }
        try await reader.read(
            open.compactMap { partition in
                bounds[partition].map {
                    PartitionOffset(partition, offset: max($0.lowerBound, $0.upperBound - Self.tail))
                }
            })
        var highest: Int64?
        let end = ContinuousClock.now + Self.timeout
        while !open.isEmpty, .now < end, !Task.isCancelled {
            for event in await reader.events(limit: 500, within: .milliseconds(200)) {
                switch event {
                case .record(let record):
                    guard let version = version(of: record) else { continue }
                    highest = max(highest ?? version, version)
                case .endOfPartition(let partition, _): open.remove(partition)
                case .rebalance, .error: break
                }
            }
        }
        return (highest, isComplete && open.isEmpty)
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
