import AdapterKit
import JOSE
import Kafka
import Pipeline
import WorkerConfiguration

/// The records on the worker's output topics.
struct DemoOutputs {
    private let topics: Configuration.Topics
    private let now: @Sendable () -> UnixTime
    private var tokens: [String: JSONValue] = [:]
    private var deadLetters: [RecordPosition: [UInt8]] = [:]
    private(set) var count = 0

    init(topics: Configuration.Topics, now: @escaping @Sendable () -> UnixTime) {
        self.topics = topics
        self.now = now
    }

    mutating func add(_ record: ConsumedRecord) {
        // An event in a retry tier is not finished.
        guard [topics.tokens, topics.deadLetters].contains(record.position.topic) else { return }
        count += 1
        if record.position.topic == topics.tokens {
            if let token = try? PublishedToken(record.body, at: now()),
                let root = record.value.flatMap({ try? JSONDocument(parsing: $0).root })
            {
                tokens[token.eventID] = root
            }
        } else if let origin = origin(of: record) {
            deadLetters[origin] = record.value
        }
    }

    /// Returns the replacement token that answers the event `id`.
    func token(_ id: String) -> JSONValue? { tokens[id] }

    /// Returns the value of the dead letter that came from `origin`.
    func deadLetter(at origin: RecordPosition) -> [UInt8]? { deadLetters[origin] }

    private func origin(of record: ConsumedRecord) -> RecordPosition? {
        let letter = InputRecord(origin: record.position, timestamp: nil, body: record.body, lane: .retries)
        return DeadLetterEntry(letter, decoder: EventDecoder(maximumBytes: 1 << 20), at: now()).origin
    }
}
