import AdapterKit
import Pipeline

/// An event of the gateway's whose end a call waits for.
///
/// Only the event's own dead letter ends the wait: its id, which nobody can guess, its subject's key, its app and the topic that the
/// gateway wrote it to must all be the letter's.
struct AwaitedEvent: Sendable {
    /// Its id.
    let id: String
    /// Its record's key: the subject key, without a challenge.
    let key: [UInt8]
    /// Its app.
    let app: String
    /// The topic it was written to.
    let topic: String

    /// Whether `letter`, a record with the key `key`, is this event's.
    func isEnded(by letter: DeadLetterEntry, key: [UInt8]?) -> Bool {
        letter.fault == nil && key == self.key && id.hasSameBytes(as: letter.eventID)
            && app.hasSameBytes(as: letter.app) && letter.origin.map { topic.hasSameBytes(as: $0.topic) } == true
    }
}
