import AdapterKit
import Kafka
import Logging
import Pipeline
import Worker
import WorkerConfiguration

/// Counts users whose new tokens the vendor rejects: the dead letters `rejected_by_vendor` of the ring's apps.
struct RejectionWatch {
    private let consumer: KafkaConsumer
    private let apps: [String]
    private let since: UnixTime
    private let decoder: EventDecoder
    private let now: @Sendable () -> UnixTime
    private let found = Counter()

    private actor Counter {
        private var users: Set<[UInt8]> = []
        var count: Int { users.count }
        func add(_ user: [UInt8]) { users.insert(user) }
    }

    init(_ ring: RingInUse, since: UnixTime, brokers: String, logger: Logger) async throws {
        let configuration = ring.configuration
        let properties = KafkaProperties(configuration, bootstrapServers: brokers)
        let partitions = try await properties.partitions(of: configuration.topics.deadLetters, logger: logger)
        consumer = try KafkaConsumer(
            properties.reader(group: "\(configuration.kafka.group)-reader"),
            reading: partitions.map { PartitionOffset($0, offset: 0) }, logger: logger)
        apps = ring.apps.map(\.name)
        self.since = since
        decoder = configuration.deadLetterDecoder
        now = ring.now
    }

    /// How many users there were so far; waits a moment for more.
    func count() async -> Int {
        for event in await consumer.events(limit: 1000, within: .milliseconds(500)) {
            guard case .record(let record) = event else { continue }
            let letter = DeadLetterEntry(InputRecord(deadLetter: record), decoder: decoder, at: now())
            guard letter.code == .rejectedByVendor, let failedAt = letter.failedAt, failedAt >= since,
                let app = letter.app, apps.contains(app)
            else { continue }
            // By the event's key where it has one, which is the subject's; an event without one is a user of its own.
            await found.add(record.key ?? Array("\(letter.eventID ?? "")".utf8))
        }
        return await found.count
    }

    func close() async { await consumer.close(within: .seconds(1)) }
}
