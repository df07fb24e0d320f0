package import AdapterKit
import Formats
package import Kafka
package import Logging
import Wiring
package import WorkerConfiguration

/// The records of topics from a place on, as they come; nothing is committed.
package struct TopicTail {
    /// The place of the first record.
    package enum Start: Sendable, Equatable {
        case beginning
        /// The first record that comes.
        case end
        /// The first record of this time or later.
        case time(UnixTime)
    }

    private static let closing = Duration.seconds(5)
    /// The longest time for one answer of the brokers.
    private static let answer = Duration.seconds(15)

    private let properties: ClientProperties
    private let starts: [PartitionOffset]
    /// The time of the first record, where the brokers do not find its offset; nil if they do.
    private let earliest: UnixTime?
    private let logger: Logger

    /// The tail of `topics` from `start` on.
    package init(
        of topics: [String], from start: Start, _ configuration: Configuration, brokers: String, logger: Logger
    ) async throws {
        let kafka = KafkaProperties(configuration, bootstrapServers: brokers)
        var partitions: [TopicPartition] = []
        for topic in topics { partitions += try await kafka.partitions(of: topic, logger: logger) }
        properties = kafka.reader(group: "\(configuration.kafka.group)-reader")
        self.logger = logger
        // The embedded broker does not look up offsets by time, and has few records.
        if configuration.kafka.isEmbedded, case .time(let time) = start {
            earliest = time
            starts = try await Self.offsets(of: partitions, .beginning, properties, logger)
        } else {
            earliest = nil
            starts = try await Self.offsets(of: partitions, start, properties, logger)
        }
    }

    private static func offsets(
        of partitions: [TopicPartition], _ start: Start, _ properties: ClientProperties, _ logger: Logger
    ) async throws -> [PartitionOffset] {
        if start == .beginning { return partitions.map { PartitionOffset($0, offset: 0) } }
        let asking = try KafkaConsumer(properties, reading: [], logger: logger)
        return try await asking.whileOpen(closingWithin: Self.closing) { consumer in
            var found: [TopicPartition: Int64] = [:]
            if case .time(let time) = start {
                found = try await consumer.offsets(of: partitions, notBefore: time.milliseconds, within: Self.answer)
            }
            var starts: [PartitionOffset] = []
            for partition in partitions {
                // A partition without a record of that time is read from its end.
                if let offset = found[partition] {
                    starts.append(PartitionOffset(partition, offset: offset))
                } else {
                    let bounds = try await consumer.bounds(of: partition, within: Self.answer)
                    starts.append(PartitionOffset(partition, offset: bounds.upperBound))
                }
            }
            return starts
        }
    }

    /// Calls `each` with each record until it returns false.
    ///
    /// - Throws: `KafkaError` for a failure that does not pass, and the error of `each`.
    package func follow(_ each: (ConsumedRecord) throws -> Bool) async throws {
        let reading = try KafkaConsumer(properties, reading: starts, logger: logger)
        try await reading.whileOpen(closingWithin: Self.closing) { consumer in
            while try take(await consumer.events(limit: 1000, within: .seconds(1)), each) {
                // A canceled task gets no event, and would ask again and again.
                try Task.checkCancellation()
            }
        }
    }

    /// Returns whether `each` wants more records than those of `events`.
    private func take(
        _ events: [KafkaConsumer.Event], _ each: (ConsumedRecord) throws -> Bool
    ) throws -> Bool {
        for event in events {
            switch event {
            case .record(let record):
                if let earliest, let time = record.timestamp, time < earliest.milliseconds { continue }
                guard try each(record) else { return false }
            case .error(let error): if error.endsReading { throw error }
            case .rebalance, .endOfPartition: break
            }
        }
        return true
    }
}

package struct TailFilter: Sendable {
    /// Selects the records of this app.
    package var app: String?
    /// Selects the records about this user: the id, or one of the ids.
    package var user: String?

    /// A filter by `app` and `user`; nil for any.
    package init(app: String? = nil, user: String? = nil) {
        self.app = app
        self.user = user
    }

    /// Returns whether the filter selects `record`.
    package func matches(_ record: TailedRecord) -> Bool {
        if let app, record.app.map({ app.hasSameBytes(as: $0) }) != true { return false }
        guard let user else { return true }
        switch record.subject?.identity {
        case .user(let id): return user.hasSameBytes(as: id)
        case .identifiers(let ids): return ids.contains { user.hasSameBytes(as: $0.value) }
        case nil: return false
        }
    }
}
