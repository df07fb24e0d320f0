import AdapterKit
import Kafka
import Logging
import Pipeline
import Synchronization
import Wiring
import WorkerConfiguration

/// The control topic, followed and written to. This worker's suspensions apply to the fleet, and the records of other
/// workers and operators apply here.
///
/// The loop exchanges records with this value; a task of its own talks to the broker. Without the topic each worker
/// acts on its own observations, and logs that it does.
final class ControlTopic: Sendable {
    /// The time that the first reading may take before the worker reports it.
    static let timeout = Duration.seconds(10)
    private static let pause = Duration.seconds(1)

    private struct State {
        var read: [ControlWord] = []
        var unwritten: [[UInt8]: ControlWord] = [:]
        var held = HeldWords()
        /// The first records of the topic's partitions when it was opened, and that moment.
        var firsts: (marks: [TopicPartition: LogMark], at: UnixTime)?
        /// Whether the topic was created again, so that it is to be read from its start.
        var isReplaced = false
    }

    private let state = Mutex(State())
    private let written = Wakeup()
    private let topic: String
    private let properties: KafkaProperties
    private let fleet: String
    private let now: @Sendable () -> UnixTime
    private let unreadable: UnreadableRecords
    private let observer: SessionObserver
    private let clientLogger: Logger
    private let isRead: @Sendable () -> Void

    init(
        _ configuration: Configuration, bootstrapServers: String, now: @escaping @Sendable () -> UnixTime,
        unreadable: UnreadableRecords, observer: SessionObserver, clientLogger: Logger,
        isRead: @escaping @Sendable () -> Void
    ) {
        topic = configuration.topics.control
        properties = KafkaProperties(configuration, bootstrapServers: bootstrapServers)
        fleet = configuration.kafka.group
        self.now = now
        self.unreadable = unreadable
        self.observer = observer
        self.clientLogger = clientLogger
        self.isRead = isRead
    }

    // MARK: The loop's side

    func take() -> [ControlWord] {
        state.withLock { state in
            defer { state.read = [] }
            return state.read
        }
    }

    /// Publishes the suspension of `app`, or its end. A later record about the same app replaces an earlier one that
    /// was not written yet.
    func tell(_ app: String, _ suspension: Suspension?) {
        tell(.app(ControlRecord(group: fleet, app: app, suspension: suspension)))
    }

    /// Publishes a worker's counts of `app`, or withdraws them.
    func tell(_ app: String, counts: RefusalCounts?, of worker: String) {
        tell(.refusals(RefusalRecord(group: fleet, app: app, worker: worker, counts: counts)))
    }

    private func tell(_ word: ControlWord) {
        state.withLock { state in
            state.unwritten[word.key] = word
            state.held.note(word)
        }
        written.signal()
    }

    // MARK: The broker's side

    /// The outcome of the first reading.
    enum Opening: Sendable {
        /// The topic was read to its end; the reader goes on from there.
        case open(KafkaConsumer)
        case missing
        case stopped
        case renewed
    }

    /// Reads the topic's present records, so that a suspension applies from the first event on. A topic that exists is
    /// waited for: a worker without it would answer events that an operator paused.
    ///
    /// - Parameter wait: called repeatedly with the reason why the topic is not read yet, or nil while it is being
    ///   read; returns a reason to give up, or nil to continue.
    /// - Throws: `KafkaError` where no reader can be made.
    func open(_ wait: (String?) -> Opening?) async throws(KafkaError) -> Opening {
        var backoff = Backoff()
        while true {
            let reader = try KafkaConsumer(
                properties.reader(group: "\(fleet)-control"), reading: [], logger: clientLogger)
            var problem: String
            do throws(KafkaError) {
                let (opening, words) = try await readToEnd(reader, wait)
                switch opening {
                case .open:
                    took(words)
                    return opening
                case .missing, .stopped, .renewed:
                    await reader.close(within: .seconds(1))
                    if case .missing = opening { observer.controlMissing(topic) }
                    return opening
                }
            } catch { problem = "\(error)" }
            await reader.close(within: .seconds(1))
            if let end = wait(problem) { return end }
            try? await Task.sleep(for: backoff.pause())
        }
    }

    private func readToEnd(
        _ reader: KafkaConsumer, _ wait: (String?) -> Opening?
    ) async throws(KafkaError) -> (Opening, [ControlWord]) {
        let found = try await reader.metadata(of: topic, within: Self.timeout / 2)
        guard found.partitionCount > 0 else {
            guard let error = found.error, error.code != .unknownTopic, error.code != .unknownTopicOrPartition else {
                return (.missing, [])
            }
            throw error
        }
        var open = Set((0..<found.partitionCount).map { TopicPartition(topic: topic, partition: Int32(clamping: $0)) })
        try await reader.read(open.map { PartitionOffset($0, offset: 0) })
        var words: [ControlWord] = []
        var marks: [TopicPartition: LogMark] = [:]
        let begin = now()
        while !open.isEmpty {
            if let end = wait(nil) { return (end, []) }
            for event in await reader.events(limit: 500, within: .milliseconds(200)) {
                if case .endOfPartition(let partition, _) = event { open.remove(partition) }
                // Deleted or forbidden meanwhile: that is asked again.
                if case .error(let error) = event, error.endsReading { throw error }
                guard case .record(let record) = event else { continue }
                let partition = TopicPartition(record.position)
                if marks[partition] == nil { marks[partition] = LogMark(record) }
                if let word = word(in: record) { words.append(word) }
            }
        }
        state.withLock { $0.firsts = $0.firsts ?? (marks, begin) }
        observer.controlRead()
        return (.open(reader), words)
    }

    /// Follows the topic and writes the records for the fleet, until the task is canceled.
    func run(_ reader: KafkaConsumer) async {
        // Nobody waits for it at the end: brokers that do not answer would hold the worker up.
        let watch = Task.detached { await self.watchLog() }
        await withDiscardingTaskGroup { group in
            group.addTask { await self.follow(reader) }
            group.addTask { await self.write() }
        }
        watch.cancel()
    }

    private func follow(_ first: KafkaConsumer) async {
        var reader = first
        while !Task.isCancelled {
            let events = await reader.events(limit: 100, within: Self.pause)
            took(events.compactMap { word(in: $0) })
            // A batch that cannot be unpacked may be a pause: the worker reports that the topic cannot be read, and tries again.
            let isUnreadable = events.contains { if case .error(let error) = $0 { error.batch != nil } else { false } }
            if isUnreadable { state.withLock { $0.isReplaced = true } }
            let isReplaced = state.withLock { state in
                defer { state.isReplaced = false }
                return state.isReplaced
            }
            if isReplaced { reader = await readAgain(reader) }
        }
        await reader.close(within: .seconds(1))
    }

    /// Checks whether the topic was created again under its name: a pause in the part that the reader skips would not
    /// apply.
    private func watchLog() async {
        var watch = TopicWatch(properties, group: fleet, logger: clientLogger, now: now)
        if let firsts = state.withLock({ $0.firsts }) { watch.begin(topic, firsts.marks, at: firsts.at) }
        // Only a cancellation ends the sleep early.
        while (try? await Task.sleep(for: TopicWatch.interval)) != nil {
            guard !(await watch.look(at: [topic])).isEmpty else { continue }
            observer.controlReplaced(topic)
            state.withLock { $0.isReplaced = true }
        }
    }

    /// Reads the topic that was created again from its start. A state that the new topic does not mention stays in force,
    /// and is written to it: workers that start later know it from there alone.
    ///
    /// - Returns: the reader to continue with: the old one where the new topic could not be read.
    private func readAgain(_ reader: KafkaConsumer) async -> KafkaConsumer {
        do throws(KafkaError) {
            let next = try KafkaConsumer(
                properties.reader(group: "\(fleet)-control"), reading: [], logger: clientLogger)
            do throws(KafkaError) {
                let (opening, words) = try await readToEnd(next) { _ in Task.isCancelled ? .stopped : nil }
                if case .open = opening {
                    await reader.close(within: .seconds(1))
                    state.withLock { state in
                        for word in state.held.missing(in: words, at: now()) {
                            state.unwritten[word.key] = state.unwritten[word.key] ?? word
                        }
                    }
                    written.signal()
                    took(Self.latest(of: words))
                    return next
                }
            } catch {
                await next.close(within: .seconds(1))
                throw error
            }
            await next.close(within: .seconds(1))
        } catch {
            observer.controlNotReadAgain(error)
        }
        state.withLock { $0.isReplaced = true }
        return reader
    }

    /// Returns the last of `words` for each key: an earlier one is over, and must not apply again for a moment.
    static func latest(of words: [ControlWord]) -> [ControlWord] {
        var seen: Set<[UInt8]> = []
        return words.reversed().filter { seen.insert($0.key).inserted }.reversed()
    }

    private func took(_ words: [ControlWord]) {
        guard !words.isEmpty else { return }
        state.withLock { state in
            state.read += words
            for word in words { state.held.note(word) }
        }
        isRead()
    }

    private func word(in event: KafkaConsumer.Event) -> ControlWord? {
        guard case .record(let record) = event else { return nil }
        return word(in: record)
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
        do throws(KafkaError) { producer = try KafkaProducer(properties.producer, logger: clientLogger) } catch {
            observer.controlUnwritable(error)
            return
        }
        while !Task.isCancelled {
            await written.wait(atMost: Self.pause)
            await writeAll(by: producer)
        }
        // Records from the very end are still written.
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
        if errors.allSatisfy({ $0 == nil }) { observer.controlWritten() }
        for (record, error) in zip(records, errors) {
            guard let error else { continue }
            observer.controlDelayed(record.app, error)
            // Unless something newer is to be reported by now.
            state.withLock { if $0.unwritten[record.key] == nil { $0.unwritten[record.key] = record } }
        }
    }
}
