import AdapterKit
import Kafka
import Pipeline

/// An event of the gateway that a call waits for.
///
/// Only the event's own dead letter ends the wait. The letter must have the event's id, which nobody can guess, its
/// subject's key, its app, and the topic that the gateway wrote it to.
struct AwaitedEvent: Sendable {
    /// The event's id.
    let id: String
    /// The key of the event's record: the subject key, without a challenge.
    let key: [UInt8]
    /// The event's app.
    let app: String
    /// The topic that the event was written to.
    let topic: String
    /// The brokers' answer about the event; nil where it is of no interest.
    var delivery: Delivery?
    /// The event's place, where it was known before the wait began.
    var place: DeliveredPlace?

    /// Returns whether `letter`, a record with the key `key`, belongs to this event.
    func isEnded(by letter: DeadLetterEntry, key: [UInt8]?) -> Bool {
        letter.fault == nil && key == self.key && id.hasSameBytes(as: letter.eventID)
            && app.hasSameBytes(as: letter.app) && letter.origin.map { topic.hasSameBytes(as: $0.topic) } == true
    }

    /// Returns whether a worker is done with the event, where the workers' group committed `offsets`.
    func isHandled(_ offsets: [TopicPartition: Int64]) -> Bool {
        var place = place
        if place == nil, case .taken(let taken)? = delivery?.word { place = taken }
        guard let place, let next = offsets[TopicPartition(topic: topic, partition: place.partition)] else {
            return false
        }
        return place.offset < next
    }
}
