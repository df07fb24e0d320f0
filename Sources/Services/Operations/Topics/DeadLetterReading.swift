import AdapterKit
package import Kafka
package import Pipeline
package import WorkerConfiguration

extension Configuration {
    /// The decoder of an event's app and id in a dead letter.
    package var deadLetterDecoder: EventDecoder { EventDecoder(maximumBytes: worker.maximumEventBytes) }
}

extension InputRecord {
    /// A dead letter as the pipeline reads it.
    package convenience init(deadLetter record: ConsumedRecord) {
        self.init(
            origin: record.position, timestamp: nil, body: record.body,
            // Like a retry's, its headers are a worker's and state the event's first position.
            lane: .retries)
    }
}
