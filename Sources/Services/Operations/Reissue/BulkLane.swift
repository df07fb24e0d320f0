package import AdapterKit
package import Kafka
package import Logging
import Wiring
package import WorkerConfiguration

/// The bulk lane as a job writes to it.
package protocol BulkLane {
    /// Delivers `records`, all of them.
    ///
    /// - Throws: `KafkaError`, the first one; each of the records may have been delivered then.
    func deliver(_ records: [ProducerRecord]) async throws
    /// Returns the subject keys of those of the events `ids` that the lane has, by id.
    ///
    /// - Parameter time: the time that no event is older than.
    /// - Throws: `KafkaError` or `MissingTopic`.
    func events(named ids: Set<String>, since time: UnixTime) async throws -> [String: [UInt8]]
    /// Events that no worker has consumed; nil where that is unknown.
    var lag: Int? { get async }
    /// Closes the connections.
    func close(within limit: Duration) async
}

/// The bulk lane of a cluster.
package struct KafkaBulkLane: BulkLane {
    private let configuration: Configuration
    private let brokers: String
    private let logger: Logger
    private let producer: KafkaProducer
    private let waiting: BulkLag

    /// The lane of `configuration` at `brokers`.
    ///
    /// - Throws: `KafkaError`.
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
