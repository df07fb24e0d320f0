package import AdapterKit
import Kafka
package import Keyring
package import Logging
package import Pipeline
import Wiring
package import WorkerConfiguration

/// The suspensions and pauses of a fleet's apps and lanes.
package struct ControlHolds: Sendable {
    /// The apps whose events wait, by name.
    package var apps: [String: Suspension] = [:]
    package var lanes: [Lane: LanePause] = [:]

    /// Applies the next record of the topic.
    mutating func take(_ word: ControlWord) {
        switch word {
        case .app(let record): apps[record.app] = record.suspension
        case .lane(let record): lanes[record.lane] = record.pause
        case .refusals: break
        }
    }

    /// Adds the suspension or pause that `word` ends or replaces, if one is in force in `holds`. One of all users counts
    /// more than a later one of some.
    mutating func keep(what word: ControlWord, endsIn holds: ControlHolds) {
        switch word {
        case .app(let record):
            if apps[record.app]?.reach != .everyone, let hold = holds.apps[record.app] { apps[record.app] = hold }
        case .lane(let record): lanes[record.lane] = holds.lanes[record.lane] ?? lanes[record.lane]
        case .refusals: break
        }
    }

    /// Returns these and `others`; of two of an app the one of all users.
    func adding(_ others: ControlHolds) -> ControlHolds {
        ControlHolds(
            apps: apps.merging(others.apps) { own, other in own.reach == .everyone ? own : other },
            lanes: lanes.merging(others.lanes) { own, _ in own })
    }

    /// Returns the same without suspensions and pauses that are over at `now`.
    func holding(at now: UnixTime) -> ControlHolds {
        ControlHolds(
            apps: apps.filter { !$0.value.isOver(at: now) }, lanes: lanes.filter { !$0.value.isOver(at: now) })
    }
}

/// The control topic, read and written by an operator's command.
package struct ControlStates {
    private let configuration: Configuration
    private let brokers: String
    private let logger: Logger

    /// The control topic at `brokers`.
    package init(_ configuration: Configuration, brokers: String, logger: Logger) {
        self.configuration = configuration
        self.brokers = brokers
        self.logger = logger
    }

    /// Reads the suspensions and pauses of the fleet's apps and lanes at `now`.
    ///
    /// - Parameters:
    ///   - marks: the topic's ends at `now`, to include holds that were in force after them and are over by now.
    ///   - maxWait: the longest time to wait for an open transaction.
    ///   - maxStall: the longest time in which no record arrives.
    /// - Throws: `KafkaError`, `MissingTopic`, or `HiddenOffsets`.
    package func read(
        at now: UnixTime, since marks: TopicMarks? = nil, within maxWait: Duration = TopicReader.standardMaxWait,
        maxStall: Duration = TopicReader.silence
    ) async throws -> ControlHolds {
        var (holds, ended) = (ControlHolds(), ControlHolds())
        let ends = marks?.ends[configuration.topics.control]
        let reader = try await TopicReader(
            configuration.topics.control, configuration, brokers: brokers, maxWait: maxWait, maxStall: maxStall,
            logger: logger)
        let group = configuration.kafka.group
        try await reader.readAll { record, _, _ in
            // A record that is not valid pauses nothing.
            let word = try? ControlWord(key: record.key, value: record.value, group: group, at: now)
            guard let word else { return }
            let partition = Int(record.position.partition)
            if let ends, !ends.indices.contains(partition) || record.position.offset >= ends[partition] {
                ended.keep(what: word, endsIn: holds)
            }
            holds.take(word)
        }
        return holds.adding(ended).holding(at: now)
    }

    /// Returns the record that sets or clears the suspension of `app` at every worker.
    package func word(on app: String, _ suspension: Suspension?) -> ControlWord {
        .app(ControlRecord(group: configuration.kafka.group, app: app, suspension: suspension))
    }

    /// Returns the record that sets or clears the pause of `lane` at every worker.
    package func word(on lane: Lane, _ pause: LanePause?) -> ControlWord {
        .lane(LaneRecord(group: configuration.kafka.group, lane: lane, pause: pause))
    }

    /// Writes `words` to the control topic, which every worker reads.
    ///
    /// - Throws: `KafkaError`, the first one.
    package func write(_ words: [ControlWord]) async throws {
        let properties = KafkaProperties(configuration, bootstrapServers: brokers)
        let producer = try KafkaProducer(properties.producer, logger: logger)
        let errors = await producer.whileOpen(closingWithin: .seconds(5)) { producer in
            await producer.deliver(
                words.map { ProducerRecord(topic: configuration.topics.control, key: $0.key, value: $0.value) })
        }
        if let error = errors.compactMap({ $0 }).first { throw error }
    }
}
