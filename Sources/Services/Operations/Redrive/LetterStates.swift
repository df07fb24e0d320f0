import AdapterKit
package import Kafka
package import Logging
package import Pipeline
import Wiring
package import WorkerConfiguration

/// The identity of a dead letter: its partition and offset, and the time at which its event failed. The time is needed
/// because a topic that is created again begins at offset 0.
package struct LetterName: Hashable, Sendable {
    /// The partition of the dead letters' topic.
    package let partition: Int32
    package let offset: Int64
    private let failedAt: String

    /// The name of `letter`, a record of the dead letters' topic; nil for a record that no worker wrote as a dead
    /// letter.
    package init?(_ letter: InputRecord) {
        self.init(letter.origin.partition, letter.origin.offset, letter.body.text(HopHeaders.failedAt) ?? "")
    }

    /// Parses a name from a header's text; nil where `text` is no name.
    package init?(text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 3, let partition = Int32(parts[0]), let offset = Int64(parts[1]) else { return nil }
        self.init(partition, offset, String(parts[2]))
    }

    private init?(_ partition: Int32, _ offset: Int64, _ failedAt: String) {
        guard partition >= 0, offset >= 0, 1...64 ~= failedAt.utf8.count else { return nil }
        self.partition = partition
        self.offset = offset
        self.failedAt = failedAt
    }

    /// The letter's place in the dead letters' topic.
    package var place: LetterPlace { LetterPlace(partition: partition, offset: offset) }

    /// The name as a header states it: `partition/offset/time of the failure`.
    package var text: String { "\(partition)/\(offset)/\(failedAt)" }
}

/// The dead letters that need no more attention: parked letters, and letters that an operator dealt with.
///
/// The states come from the topic of parked letters. A letter's state only moves from parked to done. So neither the
/// order in which partitions are read nor a duplicate record makes a difference.
package struct LetterStates: Sendable, Equatable {
    package enum State: Sendable, Equatable {
        /// The letter waits on the topic of parked letters.
        case parked
        /// The event was sent back to its topic, or the letter is on the dead letters' topic again, at another offset.
        case done

        /// The reason why a redrive skips the letter.
        package var refusal: Redrive.Refusal { self == .parked ? .parked : .done }
    }

    private var states: [LetterName: State] = [:]

    /// States before anything was parked or sent back.
    package init() {}

    /// Returns the state of the letter `name`; nil for a letter that needs attention.
    package subscript(name: LetterName) -> State? { states[name] }

    package var parked: Int { states.values.count { $0 == .parked } }

    /// Returns the number of letters that need no attention in `bounds` of the dead letters' topic.
    package func count(within bounds: [TopicPartition: Range<Int64>]) -> Int {
        let ranges = Dictionary(bounds.map { ($0.key.partition, $0.value) }) { first, _ in first }
        return states.keys.count { ranges[$0.partition]?.contains($0.offset) == true }
    }

    /// Applies a record of the topic of parked letters.
    package mutating func take(_ body: RecordBody) {
        guard let name = body.text(HopHeaders.parkedLetter).flatMap(LetterName.init(text:)) else { return }
        if body.has(HopHeaders.parkedEnd) {
            finish(name)
        } else if states[name] == nil {
            states[name] = .parked
        }
    }

    package mutating func finish(_ name: LetterName) { states[name] = .done }

    /// Reads the states of all letters from the topic of parked letters; nil where the topic does not exist.
    ///
    /// - Parameters:
    ///   - maxWait: the longest time to wait for an open transaction.
    ///   - maxStall: the longest time in which no record arrives.
    package static func read(
        _ configuration: Configuration, brokers: String, within maxWait: Duration = TopicReader.standardMaxWait,
        maxStall: Duration = TopicReader.silence, logger: Logger
    ) async throws -> LetterStates? {
        let topic = configuration.topics.parkedLetters
        let properties = KafkaProperties(configuration, bootstrapServers: brokers)
        guard try await properties.topicNames(logger: logger).contains(topic) else { return nil }
        var states = LetterStates()
        let reader = try await TopicReader(
            topic, configuration, brokers: brokers, maxWait: maxWait, maxStall: maxStall, logger: logger)
        try await reader.readAll { record, _, _ in states.take(record.body) }
        return states
    }
}

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
