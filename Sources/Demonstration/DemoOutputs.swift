import JOSE
import Kafka
import Pipeline
import WorkerConfiguration

/// What stood on the worker's output topics.
struct DemoOutputs {
    private let topics: Configuration.Topics
    private var tokens: [String: JSONValue] = [:]
    private var deadLetters: [RecordPosition: [UInt8]] = [:]
    private(set) var count = 0

    init(topics: Configuration.Topics) { self.topics = topics }

    mutating func add(_ record: ConsumedRecord) {
        // An event in a retry tier has not ended.
        guard [topics.tokens, topics.deadLetters].contains(record.position.topic) else { return }
        count += 1
        if record.position.topic == topics.tokens {
            if let root = record.value.flatMap({ try? JSONDocument(parsing: $0).root }),
                let id = root["event_id"]?.string
            {
                tokens[id] = root
            }
        } else if let origin = origin(of: record) {
            deadLetters[origin] = record.value
        }
    }

    /// The replacement token that answers the event `id`.
    func token(_ id: String) -> JSONValue? { tokens[id] }

    /// The value of the dead letter that came from `origin`.
    func deadLetter(at origin: RecordPosition) -> [UInt8]? { deadLetters[origin] }

    private func origin(of record: ConsumedRecord) -> RecordPosition? {
        func text(_ name: String) -> String? {
            record.headers.last { $0.name == name }?.value.map { String(decoding: $0, as: UTF8.self) }
        }
        guard let topic = text("remint-origin-topic"),
            let partition = text("remint-origin-partition").flatMap(Int32.init),
            let offset = text("remint-origin-offset").flatMap(Int64.init)
        else { return nil }
        return RecordPosition(topic: topic, partition: partition, offset: offset)
    }
}
