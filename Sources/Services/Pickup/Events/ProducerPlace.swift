import Kafka
import Logging
import Synchronization

/// The present producer. When the files of its certificates change, a new producer replaces it.
final class ProducerPlace: Sendable {
    /// The time for the records that the old producer still has; a record gives up earlier.
    private static let closeTimeout = Duration.seconds(35)

    private let producer: Mutex<KafkaProducer>
    private let make: @Sendable () throws(KafkaError) -> KafkaProducer

    /// - Parameter make: makes a producer with the present files.
    /// - Throws: `KafkaError` when librdkafka refuses a property.
    init(_ make: @escaping @Sendable () throws(KafkaError) -> KafkaProducer) throws(KafkaError) {
        self.make = make
        producer = Mutex(try make())
    }

    var current: KafkaProducer { producer.withLock { $0 } }

    /// Replaces the producer by a new one. The old one delivers the records that it has accepted, and closes.
    ///
    /// - Throws: `KafkaError` where no producer can be made; the old one stays.
    func renew() throws(KafkaError) {
        let new = try make()
        let old = producer.withLock { producer in
            defer { producer = new }
            return producer
        }
        Task { await old.close(within: Self.closeTimeout) }
    }

    /// Ends the producer.
    func close(within limit: Duration) async { await current.close(within: limit) }
}
