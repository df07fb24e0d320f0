package import Kafka
package import Logging
import Worker
package import WorkerConfiguration

/// The bulk lane as a job writes to it.
package protocol BulkLane {
    /// Delivers `records`, all of them.
    ///
    /// - Throws: `KafkaError`, the first one; each of the records may have been delivered then.
    func deliver(_ records: [ProducerRecord]) async throws
    /// Events that no worker has consumed; nil where that is unknown.
    var lag: Int? { get async }
    /// Gives the connections back.
    func close(within limit: Duration) async
}

/// The bulk lane of a cluster.
package struct KafkaBulkLane: BulkLane {
    private let producer: KafkaProducer
    private let waiting: BulkLag

    /// The lane of `configuration` at `brokers`.
    ///
    /// - Throws: `KafkaError`.
    package init(_ configuration: Configuration, brokers: String, logger: Logger) throws {
        let properties = KafkaProperties(configuration, bootstrapServers: brokers)
        producer = try KafkaProducer(properties.producer, logger: logger)
        producer.prepare([configuration.topics.invalidationsBulk])
        waiting = BulkLag(configuration, properties, logger: logger)
    }

    package func deliver(_ records: [ProducerRecord]) async throws {
        let errors = await producer.deliver(records)
        if let error = errors.compactMap({ $0 }).first { throw error }
    }

    package var lag: Int? { get async { await waiting.value } }

    package func close(within limit: Duration) async {
        await producer.close(within: limit)
        await waiting.close()
    }
}
