import AdapterKit
import Pipeline
import Wiring
import WorkerConfiguration

/// A record of the topics that the gateway follows, checked strictly. A value without a broker.
enum FollowedRecord: Sendable {
    case token(HeldToken, key: [UInt8])
    /// A subject's tokens were revoked or erased.
    case erased(key: [UInt8])
    /// An event that a call may wait for became a dead letter.
    case letter(DeadLetterEntry, key: [UInt8]?)
    case app(ControlRecord)
    /// The live lane's events wait, or continue.
    case lane(LanePause?)
    /// A record that does not concern the gateway.
    case other

    /// Reads `record`, which is at `position`, at the time `now`.
    ///
    /// - Parameter isAwaited: whether a call waits for the event of this id; letters of other events are not read.
    /// - Throws: `RecordFault` for a record that must be skipped.
    init(
        _ record: RecordBody, at position: RecordPosition, _ configuration: Configuration, now: UnixTime,
        isAwaited: (String) -> Bool
    ) throws(RecordFault) {
        let topics = configuration.topics
        switch position.topic {
        case topics.tokens:
            guard let key = record.key else { throw .foreign }
            self = record.hasValue ? .token(try HeldToken(record, at: now), key: key) : .erased(key: key)
        case topics.deadLetters:
            guard let event = record.text("ce_id"), isAwaited(event) else {
                self = .other
                return
            }
            let letter = DeadLetterEntry(
                InputRecord(
                    origin: position, timestamp: nil, body: record,
                    // Like a retry's, its headers are a worker's and state the event's first position.
                    lane: .retries),
                decoder: EventDecoder(maximumBytes: configuration.worker.maximumEventBytes), at: now)
            if let fault = letter.fault { throw fault }
            self = .letter(letter, key: record.key)
        case topics.control:
            let word = try ControlWord(
                key: record.key, value: record.value, group: configuration.kafka.group, at: now)
            switch word {
            case .app(let record): self = .app(record)
            case .lane(let record) where record.lane == .live: self = .lane(record.pause)
            case .lane, .refusals, nil: self = .other
            }
        default: self = .other
        }
    }

    static func kind(of topic: String, _ topics: Configuration.Topics) -> UnreadableRecords.Kind {
        switch topic {
        case topics.tokens: .tokens
        case topics.deadLetters: .deadLetters
        default: .control
        }
    }
}
