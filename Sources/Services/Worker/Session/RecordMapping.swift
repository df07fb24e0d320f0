import AdapterKit
import Kafka
import Pipeline
import Wiring
import WorkerConfiguration

extension InputRecord {
    convenience init(_ record: ConsumedRecord, lane: Lane, tier: Int?, trace: EventTrace? = nil) {
        self.init(
            origin: record.position, timestamp: record.timestamp.map { UnixTime(milliseconds: $0) }, body: record.body,
            lane: lane, tier: tier, trace: trace)
    }
}

extension ProducerRecord {
    /// A record of the pipeline's on its way to its topic.
    init(_ record: OutputRecord, _ configuration: Configuration) {
        self.init(topic: configuration.topic(for: record.destination), body: record.body)
    }
}
