import Kafka

/// An ask whose event is sent to a worker.
struct OutgoingAsk: Sendable {
    let record: ProducerRecord
    /// The name it is under way by.
    let name: [UInt8]
    let ask: AsksUnderWay.Ask
}
