import Kafka

/// An ask whose event is sent to a worker.
struct OutgoingAsk: Sendable {
    let record: ProducerRecord
    /// The name of the ask among those under way.
    let name: [UInt8]
    let ask: AsksUnderWay.Ask
}
