import AdapterKit
import Kafka
import Logging
import Pipeline
import Synchronization
import Telemetry
import WorkerConfiguration

/// The control topic, followed and written to: what this worker suspends holds for all of them, and what others say holds here.
///
/// The loop puts in and takes out; a task of its own talks to the broker. Without the topic each worker goes by what it sees
/// itself, which is said.
final class ControlTopic: Sendable {
    /// The time that the first reading may take before the worker reports it.
    static let timeout = Duration.seconds(10)
    /// Between two tries, and between two looks at what is to be written.
    private static let pause = Duration.seconds(1)

    private struct State {
        /// The records that were read and the loop has not taken.
        var read: [ControlWord] = []
        /// The records to write, the latest for each key.
        var unwritten: [[UInt8]: ControlWord] = [:]
    }

    private let state = Mutex(State())
    private let written = Wakeup()
    private let topic: String
    private let properties: KafkaProperties
    /// The fleet's consumer group.
    private let fleet: String
    private let now: @Sendable () -> UnixTime
    private let unreadable: UnreadableRecords
    private let logger: Logger
    /// Signalled when there is something to take.
    private let isRead: @Sendable () -> Void

    init(
        _ configuration: Configuration, bootstrapServers: String, now: @escaping @Sendable () -> UnixTime,
        unreadable: UnreadableRecords, logger: Logger, isRead: @escaping @Sendable () -> Void
    ) {
        topic = configuration.topics.control
        properties = KafkaProperties(configuration, bootstrapServers: bootstrapServers)
        fleet = configuration.kafka.group
        self.now = now
        self.unreadable = unreadable
        self.logger = logger
        self.isRead = isRead
    }

    // MARK: The loop's side

    /// Returns the records that were read since the last call, in order.
    func take() -> [ControlWord] {
        state.withLock { state in
            defer { state.read = [] }
            return state.read
        }
    }

    /// Tells the fleet what holds `app`, or that nothing does. A later word on the same app takes the place of an earlier one
    /// that was not written yet.
    func tell(_ app: String, _ suspension: Suspension?) {
        tell(.app(ControlRecord(group: fleet, app: app, suspension: suspension)))
    }

    /// Tells the fleet a worker's counts of `app`, or takes them back.
    func tell(_ app: String, counts: RefusalCounts?, of worker: String) {
        tell(.refusals(RefusalRecord(group: fleet, app: app, worker: worker, counts: counts)))
    }

    private func tell(_ word: ControlWord) {
        state.withLock { $0.unwritten[word.key] = word }
        written.signal()
    }

    // MARK: The broker's side

    /// The outcome of the first reading.
    enum Opening: Sendable {
        /// The topic was read to its end; the reader goes on from there.
        case open(KafkaConsumer)
        /// There is no such topic.
        case missing
        /// The worker is to stop.
        case stopped
        /// Other clients are wanted.
        case renewed
    }

    /// Reads what the topic holds by now, so that a suspension holds from the first event on. A topic that exists is waited for: a worker
    /// that went on without it would answer what an operator paused.
    ///
    /// - Parameter wait: told again and again why the topic is not read yet, or nil while it is being read; returns why to give up, or
    ///   nil to go on.
    /// - Throws: `KafkaError` where no reader can be made.
    func open(_ wait: (String?) -> Opening?) async throws(KafkaError) -> Opening {
        var backoff = Backoff()
        while true {
            let reader = try KafkaConsumer(properties.reader(group: "\(fleet)-control"), reading: [], logger: logger)
            var problem: String
            do throws(KafkaError) {
                switch try await readToEnd(reader, wait) {
                case .open: return .open(reader)
                case let opening:
                    await reader.close(within: .seconds(1))
                    if case .missing = opening { tellMissing() }
                    return opening
                }
            } catch { problem = "\(error)" }
            await reader.close(within: .seconds(1))
            if let end = wait(problem) { return end }
            try? await Task.sleep(for: backoff.pause())
        }
    }

    private func tellMissing() {
        logger.error(
            "the control topic does not exist: suspensions and pauses hold for this worker alone, and end with it; create it, compacted",
            metadata: [LogKey.topic: "\(topic)"])
    }

    /// Reads until the topic's end, however long that takes.
    private func readToEnd(
        _ reader: KafkaConsumer, _ wait: (String?) -> Opening?
    ) async throws(KafkaError) -> Opening {
        let found = try await reader.metadata(of: topic, within: Self.timeout / 2)
        guard found.partitionCount > 0 else {
            guard let error = found.error, error.code != .unknownTopic, error.code != .unknownTopicOrPartition else {
                return .missing
            }
            throw error
        }
        var open = Set((0..<found.partitionCount).map { TopicPartition(topic: topic, partition: Int32(clamping: $0)) })
        try await reader.read(open.map { PartitionOffset($0, offset: 0) })
        while !open.isEmpty {
            if let end = wait(nil) { return end }
            for event in await reader.events(limit: 500, within: .milliseconds(200)) {
                if case .endOfPartition(let partition) = event { open.remove(partition) }
                // Deleted or forbidden meanwhile: that is asked anew.
                if case .error(let error) = event, error.isFatal || error.code.isAboutReading { throw error }
                took(event)
            }
        }
        return .open(reader)
    }

    /// Follows the topic and writes what there is to tell, until the task is cancelled.
    func run(_ reader: KafkaConsumer) async {
        await withDiscardingTaskGroup { group in
            group.addTask { await self.follow(reader) }
            group.addTask { await self.write() }
        }
        await reader.close(within: .seconds(1))
    }

    private func follow(_ reader: KafkaConsumer) async {
        while !Task.isCancelled {
            let events = await reader.events(limit: 100, within: Self.pause)
            for event in events { took(event) }
        }
    }

    private func took(_ event: KafkaConsumer.Event) {
        guard case .record(let record) = event, let word = word(in: record) else { return }
        state.withLock { $0.read.append(word) }
        isRead()
    }

    private func word(in record: ConsumedRecord) -> ControlWord? {
        do throws(RecordFault) {
            return try ControlWord(key: record.key, value: record.value, group: fleet, at: now())
        } catch {
            unreadable.count(error, .control, at: record.position)
            return nil
        }
    }

    private func write() async {
        let producer: KafkaProducer
        do throws(KafkaError) { producer = try KafkaProducer(properties.producer, logger: logger) } catch {
            logger.error("the control topic cannot be written", metadata: [LogKey.kafkaError: "\(error)"])
            return
        }
        while !Task.isCancelled {
            await written.wait(atMost: Self.pause)
            await writeAll(by: producer)
        }
        // What was found out at the very end is still told.
        await writeAll(by: producer)
        await producer.close(within: .seconds(2))
    }

    private func writeAll(by producer: KafkaProducer) async {
        let records = state.withLock { state in
            defer { state.unwritten = [:] }
            return state.unwritten.values.sorted { $0.key.lexicographicallyPrecedes($1.key) }
        }
        guard !records.isEmpty else { return }
        let errors = await producer.deliver(
            records.map { ProducerRecord(topic: topic, key: $0.key, value: $0.value) })
        for (record, error) in zip(records, errors) {
            guard let error else { continue }
            logger.warning(
                "the control topic could not be written; it is tried again",
                metadata: [LogKey.app: "\(record.app ?? "")", LogKey.kafkaError: "\(error)"])
            // Unless something newer is to be told by now.
            state.withLock { if $0.unwritten[record.key] == nil { $0.unwritten[record.key] = record } }
        }
    }
}
