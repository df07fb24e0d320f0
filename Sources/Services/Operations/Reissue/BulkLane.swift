package import AdapterKit
package import Kafka
package import Logging
import Pipeline
package import Wiring
package import WorkerConfiguration

package protocol BulkLane {
    /// Delivers `records`, all of them.
    ///
    /// - Throws: `KafkaError`, the first one; each of the records may have been delivered then.
    func deliver(_ records: [ProducerRecord]) async throws
    /// Returns the subject keys of those of the events `ids` that the lane has, by id.
    ///
    /// - Parameter time: the time that no event is older than.
    func events(named ids: Set<String>, since time: UnixTime) async throws -> [String: [UInt8]]
    /// Events that no worker has consumed; nil where that is unknown.
    var lag: Int? { get async }
    func close(within limit: Duration) async
}

package struct KafkaBulkLane: BulkLane {
    private let configuration: Configuration
    private let brokers: String
    private let logger: Logger
    private let producer: KafkaProducer
    private let waiting: BulkLag

    /// The lane of `configuration` at `brokers`.
    package init(_ configuration: Configuration, brokers: String, logger: Logger) throws {
        let properties = KafkaProperties(configuration, bootstrapServers: brokers)
        (self.configuration, self.brokers, self.logger) = (configuration, brokers, logger)
        producer = try KafkaProducer(properties.producer, logger: logger)
        producer.prepare([configuration.topics.invalidationsBulk])
        waiting = BulkLag(configuration, properties, logger: logger)
    }

    package func deliver(_ records: [ProducerRecord]) async throws {
        let errors = await producer.deliver(records)
        if let error = errors.compactMap({ $0 }).first { throw error }
    }

    package func events(named ids: Set<String>, since time: UnixTime) async throws -> [String: [UInt8]] {
        let reader = try await TopicReader(
            configuration.topics.invalidationsBulk, since: time, configuration, brokers: brokers, logger: logger)
        var found: [String: [UInt8]] = [:]
        // Another program's open transaction hides events that are not this job's.
        _ = try await reader.readVisible(Array(reader.bounds.keys), within: .zero) { record, _, _ in
            guard let key = record.key, let value = record.value,
                let id = (try? JSONDocument(parsing: value).root)?["id"]?.string, ids.contains(id)
            else { return }
            found[id] = key
        }
        return found
    }

    package var lag: Int? { get async { await waiting.value } }

    package func close(within limit: Duration) async {
        await producer.close(within: limit)
        await waiting.close()
    }
}

/// The number of events of the bulk lane that wait for the workers: the ends of its partitions less the offsets that
/// its group committed.
package actor BulkLag {
    private let topic: String
    private let properties: KafkaProperties
    private let logger: Logger
    private var consumer: KafkaConsumer?
    private var partitions: [TopicPartition] = []
    private var last: (value: Int, at: ContinuousClock.Instant)?

    package init(_ configuration: Configuration, _ properties: KafkaProperties, logger: Logger) {
        topic = configuration.topics.invalidationsBulk
        self.properties = properties
        self.logger = logger
    }

    /// The lag, asked of the brokers once a second at most; nil where they do not return it.
    package var value: Int? {
        get async {
            if let last, .now - last.at < .seconds(1) { return last.value }
            return await current
        }
    }

    /// The lag, asked of the brokers now; nil where they do not return it.
    var current: Int? { get async { try? await ask() } }

    package func ask() async throws -> Int {
        let consumer = try await reader()
        let lag = try await consumer.lag(of: partitions, within: .seconds(10))
        let value = Int(clamping: lag.values.reduce(0, +))
        last = (value, .now)
        return value
    }

    /// Returns a client that reads nothing and only asks in the name of the bulk lane's group.
    private func reader() async throws -> KafkaConsumer {
        if let consumer { return consumer }
        partitions = try await properties.partitions(of: topic, logger: logger)
        let consumer = try KafkaConsumer(properties.consumer(of: .bulk), reading: [], logger: logger)
        self.consumer = consumer
        return consumer
    }

    package func close() async {
        await consumer?.close(within: .seconds(1))
        consumer = nil
    }
}
