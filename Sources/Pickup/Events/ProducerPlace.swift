import Kafka
import Logging
import Synchronization

/// The producer of this moment: another one takes its place when the files of its certificates changed.
final class ProducerPlace: Sendable {
    /// The time for what is on its way with the old one; a record gives up before.
    private static let patience = Duration.seconds(35)

    private let producer: Mutex<KafkaProducer>
    private let make: @Sendable () throws(KafkaError) -> KafkaProducer

    /// - Parameter make: makes a producer, with the files as they are.
    /// - Throws: `KafkaError` when librdkafka refuses a property.
    init(_ make: @escaping @Sendable () throws(KafkaError) -> KafkaProducer) throws(KafkaError) {
        self.make = make
        producer = Mutex(try make())
    }

    var current: KafkaProducer { producer.withLock { $0 } }

    /// Puts a new producer in the place of the one there is, which ends with what it has taken.
    ///
    /// - Throws: `KafkaError` where none can be made; the old one goes on.
    func renew() throws(KafkaError) {
        let new = try make()
        let old = producer.withLock { producer in
            defer { producer = new }
            return producer
        }
        Task { await old.close(within: Self.patience) }
    }

    /// Ends the producer.
    func close(within limit: Duration) async { await current.close(within: limit) }
}
