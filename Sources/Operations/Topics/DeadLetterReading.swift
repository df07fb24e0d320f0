import AdapterKit
package import Kafka
package import Pipeline
package import WorkerConfiguration

extension Configuration {
    /// Reads an event's app and id out of a dead letter, however large it is.
    package var deadLetterDecoder: EventDecoder { EventDecoder(maximumBytes: worker.maximumEventBytes) }
}

extension InputRecord {
    /// A dead letter as the pipeline reads it.
    package convenience init(deadLetter record: ConsumedRecord) {
        self.init(
            origin: record.position, timestamp: nil, body: record.body,
            // Like a retry's, its headers are a worker's and say where the event first stood.
            lane: .retries)
    }
}
