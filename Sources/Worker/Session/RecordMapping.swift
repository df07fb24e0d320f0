import AdapterKit
import Kafka
import Pipeline
import WorkerConfiguration

extension InputRecord {
    /// A consumed record as the pipeline takes it, followed where `tracing` wants to.
    convenience init(_ record: ConsumedRecord, lane: Lane, tier: Int?, by tracing: EventTracing? = nil) {
        let timestamp = record.timestamp.map { UnixTime(milliseconds: $0) }
        self.init(
            origin: record.position, timestamp: timestamp, body: record.body, lane: lane, tier: tier,
            trace: tracing?.begin(record.body, at: record.position, lane: lane, producedAt: timestamp))
    }
}

extension ProducerRecord {
    /// A record of the pipeline's on its way to its topic.
    init(_ record: OutputRecord, _ configuration: Configuration) {
        self.init(topic: configuration.topic(for: record.destination), body: record.body)
    }
}
