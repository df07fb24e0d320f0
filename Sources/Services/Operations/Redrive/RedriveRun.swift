package import AdapterKit
package import Kafka
package import Logging
package import Pipeline
import Wiring
package import WorkerConfiguration

/// One redrive: reads, publishes and commits, batch after batch.
package struct RedriveRun {
    package struct Result {
        /// The number of letters sent back, or parked where the run parks.
        package var redriven = 0
        /// The number of letters that the filter does not match.
        package var unmatched = 0
        /// The number of letters that stay, by reason.
        package var refused: [Redrive.Refusal: Int] = [:]
        /// The error that kept the rest from being published.
        package var failure: KafkaError?
    }

    let configuration: Configuration
    let filter: DeadLetterFilter
    let maximumRedrives: Int
    let isDryRun: Bool
    /// Letters a second; 0 for no limit.
    let rate: Int
    let now: UnixTime
    let display: any ProgressDisplay
    let plan: PlannedLetterDisplay
    private let inputs: Set<String>

    /// A redrive of the letters that `filter` matches, at `rate` letters a second (0: no limit). A dry run calls `plan`
    /// with each letter.
    package init(
        configuration: Configuration, filter: DeadLetterFilter, maximumRedrives: Int, isDryRun: Bool, rate: Int,
        now: UnixTime, display: any ProgressDisplay, plan: @escaping PlannedLetterDisplay
    ) {
        self.configuration = configuration
        self.filter = filter
        self.maximumRedrives = maximumRedrives
        self.isDryRun = isDryRun
        self.rate = rate
        self.now = now
        self.display = display
        self.plan = plan
        inputs = Set(configuration.eventTopics)
    }

    /// The number of letters to publish together.
    private var batch: Int { LetterPace.batch(at: rate) }

    package func run(brokers: String, group: String, logger: Logger) async throws -> Result {
        let properties = KafkaProperties(configuration, bootstrapServers: brokers)
        let topic = configuration.topics.parkedLetters
        let isMarked = try await properties.topicNames(logger: logger).contains(topic)
        // From here on no other redrive or parking of the group commits anything, so that what is read next stays true.
        let writer = try await LetterWriter(
            configuration, brokers: brokers, isExclusive: isMarked && !isDryRun, logger: logger)
        return try await writer.whileOpen(closingWithin: .seconds(10)) { writer in
            var states = try await LetterStates.read(configuration, brokers: brokers, logger: logger)
            let consumer = try KafkaConsumer(
                properties.reader(group: group), topics: [configuration.topics.deadLetters], logger: logger)
            return try await consumer.whileOpen(closingWithin: .seconds(10)) { consumer in
                try await drive(consumer, writer, &states)
            }
        }
    }

    private func drive(
        _ consumer: KafkaConsumer, _ writer: LetterWriter, _ states: inout LetterStates?
    ) async throws -> Result {
        var result = Result()
        var reading: TopicReading?
        var progress = display
        defer { progress.clear() }
        let pace = LetterPace(rate: isDryRun ? 0 : rate)
        while reading.map({ !$0.isDone }) ?? true {
            try Task.checkCancellation()
            var records: [ConsumedRecord] = []
            for event in await consumer.events(limit: batch, within: .milliseconds(500)) {
                switch event {
                case .record(let record): if reading?.took(record.position) == true { records.append(record) }
                case .endOfPartition(let partition, let offset): reading?.ended(partition, at: offset)
                case .error(let error): if error.isFatal || error.batch != nil { throw error }
                case .rebalance(let rebalance):
                    try await consumer.answer(rebalance)
                    reading = rebalance.kind == .assigned ? try await bounds(rebalance.partitions, consumer) : nil
                }
            }
            guard !records.isEmpty else { continue }
            guard try await publish(records, &result, &states, writer, consumer) else { break }
            progress.show(reading?.done ?? 0, of: reading?.total ?? 0, "\(result.redriven) sent back")
            await pace.keep(result.redriven)
        }
        return result
    }

    /// Returns each partition's range from the group's position to the present end.
    private func bounds(
        _ partitions: [TopicPartition], _ consumer: KafkaConsumer
    ) async throws -> TopicReading {
        let committed = try await consumer.committed(partitions, within: .seconds(15))
        var bounds: [TopicPartition: Range<Int64>] = [:]
        for partition in partitions {
            let all = try await consumer.bounds(of: partition, within: .seconds(15))
            let start = min(max(committed[partition] ?? all.lowerBound, all.lowerBound), all.upperBound)
            bounds[partition] = start..<all.upperBound
        }
        return TopicReading(bounds)
    }

    /// Publishes the letters among `records` that the filter matches, then commits all of `records`.
    ///
    /// - Returns: false where a letter could not be published; then nothing of the batch is committed.
    private func publish(
        _ records: [ConsumedRecord], _ result: inout Result, _ states: inout LetterStates?, _ writer: LetterWriter,
        _ consumer: KafkaConsumer
    ) async throws -> Bool {
        var letters: [HandledLetter] = []
        for record in records {
            let input = InputRecord(deadLetter: record)
            let entry = DeadLetterEntry(input, decoder: configuration.deadLetterDecoder, at: now)
            guard filter.matches(entry, at: now) else {
                result.unmatched += 1
                continue
            }
            let target: PlannedLetter.Target
            do throws(RedriveRefused) {
                let letter = try letter(input, entry, states)
                letters.append(letter)
                target = .success(letter.record.topic)
            } catch {
                result.refused[error.reason, default: 0] += 1
                target = .failure(error)
            }
            if isDryRun { plan(PlannedLetter(entry: entry, target: target)) }
        }
        guard !isDryRun else {
            result.redriven += letters.count
            return true
        }
        let (written, failure) = await writer.write(letters)
        result.redriven += written
        result.failure = failure
        guard failure == nil else { return false }
        for letter in letters { states?.finish(letter.name) }
        try await consumer.commit(Self.ends(of: records))
        return true
    }

    /// Returns the records to write for a dead letter that the filter matches. Without a topic for marks there is no
    /// mark.
    private func letter(
        _ input: InputRecord, _ entry: DeadLetterEntry, _ states: LetterStates?
    ) throws(RedriveRefused) -> HandledLetter {
        let topics = configuration.topics
        guard let name = LetterName(input) else { throw RedriveRefused(.noDeadLetter) }
        if let state = states?[name] { throw RedriveRefused(state.refusal) }
        let redrive = try Redrive(
            input, entry, inputs: inputs, named: filter.code, maximumRedrives: maximumRedrives)
        return HandledLetter(
            name: name, record: redrive.output,
            mark: states == nil ? nil : ParkedLetter.mark(name, .redriven, to: topics.parkedLetters))
    }

    private static func ends(of records: [ConsumedRecord]) -> [PartitionOffset] {
        var ends: [TopicPartition: Int64] = [:]
        for record in records {
            ends[TopicPartition(record.position)] = record.position.nextOffset
        }
        return ends.map { PartitionOffset($0, offset: $1) }
    }
}

/// One parking, unparking or redrive of parked letters. It reads a topic up to its present end, and writes batch after
/// batch. The topic of parked letters records what was done, so an interrupted run can simply be run again.
package struct ParkingRun {
    let configuration: Configuration
    let order: LetterOrder
    let isDryRun: Bool
    /// Letters a second; 0 for no limit.
    let rate: Int
    let display: any ProgressDisplay
    let plan: PlannedLetterDisplay

    /// A run of `order`, at `rate` letters a second (0: no limit). A dry run calls `plan` with each letter.
    package init(
        configuration: Configuration, order: LetterOrder, isDryRun: Bool, rate: Int, display: any ProgressDisplay,
        plan: @escaping PlannedLetterDisplay
    ) {
        self.configuration = configuration
        self.order = order
        self.isDryRun = isDryRun
        self.rate = rate
        self.display = display
        self.plan = plan
    }

    package func run(brokers: String, logger: Logger) async throws -> RedriveRun.Result {
        // From here on no other redrive or parking of the group commits anything, so that what is read next stays true.
        let writer = try await LetterWriter(configuration, brokers: brokers, isExclusive: !isDryRun, logger: logger)
        return try await writer.whileOpen(closingWithin: .seconds(10)) { writer in
            guard let states = try await LetterStates.read(configuration, brokers: brokers, logger: logger) else {
                throw MissingTopic(configuration.topics.parkedLetters)
            }
            let reader = try await TopicReader(order.source, configuration, brokers: brokers, logger: logger)
            return try await drive(reader, writer, states)
        }
    }

    private func drive(
        _ reader: TopicReader, _ writer: LetterWriter, _ states: LetterStates
    ) async throws -> RedriveRun.Result {
        var states = states
        var result = RedriveRun.Result()
        var letters: [HandledLetter] = []
        var progress = display
        defer { progress.clear() }
        let pace = LetterPace(rate: isDryRun ? 0 : rate)
        let batch = LetterPace.batch(at: rate)
        do {
            try await reader.readAll { record, done, total in
                let input = InputRecord(deadLetter: record)
                let step = order.step(input, states)
                if isDryRun, let target = step.target {
                    plan(PlannedLetter(entry: order.entry(of: input), target: target))
                }
                switch step {
                case .other: result.unmatched += 1
                case .refused(let reason): result.refused[reason, default: 0] += 1
                case .write(let letter):
                    // A copy of it that comes later in this run is another record of the same letter.
                    states.finish(letter.name)
                    letters.append(letter)
                    guard letters.count >= batch else { return }
                    try await write(&letters, &result, writer)
                    progress.show(done, of: total, "\(result.redriven) done")
                    await pace.keep(result.redriven)
                }
            }
            try await write(&letters, &result, writer)
        } catch let failure as WriteFailure { result.failure = failure.cause }
        return result
    }

    private struct WriteFailure: Error { let cause: KafkaError }

    private func write(
        _ letters: inout [HandledLetter], _ result: inout RedriveRun.Result, _ writer: LetterWriter
    ) async throws(WriteFailure) {
        let (written, failure) = isDryRun ? (letters.count, nil) : await writer.write(letters)
        letters = []
        result.redriven += written
        if let failure { throw WriteFailure(cause: failure) }
    }
}

/// The records to write for a dead letter.
package struct HandledLetter: Sendable {
    package let name: LetterName
    /// The letter's event, or a copy of the letter for another topic.
    package let record: ProducerRecord
    /// The mark that the letter was dealt with; nil where the run writes none: a parked copy needs none, and without
    /// the topic of parked letters there is no place for one.
    package let mark: ProducerRecord?
}

/// Writes letters and the marks that go with them.
///
/// If the worker delivers exactly once, a transaction holds both, and all redrives and parkings of a group share one
/// transactional id: the latest run keeps earlier ones from committing anything more. At least once, a letter is
/// delivered before its mark; if the process ends between the two, the next run delivers the letter again.
struct LetterWriter: KafkaClient {
    private let producer: KafkaProducer
    private let isTransactional: Bool

    /// A writer at `brokers`; an exclusive one where `isExclusive` and the configuration delivers exactly once.
    init(
        _ configuration: Configuration, brokers: String, isExclusive: Bool, logger: Logger
    ) async throws(KafkaError) {
        let properties = KafkaProperties(configuration, bootstrapServers: brokers)
        isTransactional = isExclusive && configuration.delivery == .exactlyOnce
        let id = "\(configuration.kafka.group)-dead-letters"
        producer = try KafkaProducer(
            isTransactional ? properties.transactionalProducer(id: id) : properties.producer, logger: logger)
        guard isTransactional else { return }
        do throws(KafkaError) { try await producer.initTransactions(within: .seconds(30)) } catch {
            await producer.close(within: .seconds(1))
            throw error
        }
    }

    /// Writes `letters`.
    ///
    /// - Returns: the number of letters known to be written, and the error that kept the rest from it. After a failure
    ///   nothing more may be written.
    func write(_ letters: [HandledLetter]) async -> (written: Int, failure: KafkaError?) {
        guard !letters.isEmpty else { return (0, nil) }
        return isTransactional ? await writeTogether(letters) : await writeInTurn(letters)
    }

    func close(within limit: Duration) async -> Bool { await producer.close(within: limit) }

    private func writeTogether(_ letters: [HandledLetter]) async -> (written: Int, failure: KafkaError?) {
        do throws(KafkaError) {
            try await producer.beginTransaction()
            let errors = await producer.deliver(letters.map(\.record) + letters.compactMap(\.mark))
            if let error = errors.compactMap({ $0 }).first {
                // Whatever the abort returns, no reader sees the records: the transaction is never committed.
                try? await producer.abortTransaction()
                return (0, error)
            }
            // Where the commit's outcome is unknown, the marks show it to the next run.
            try await producer.commitTransaction()
            return (letters.count, nil)
        } catch { return (0, error) }
    }

    private func writeInTurn(_ letters: [HandledLetter]) async -> (written: Int, failure: KafkaError?) {
        let errors = await producer.deliver(letters.map(\.record))
        let marks = zip(letters, errors).compactMap { letter, error in error == nil ? letter.mark : nil }
        let unmarked = await producer.deliver(marks)
        return (errors.count { $0 == nil }, (errors + unmarked).compactMap { $0 }.first)
    }
}

/// Limits a run to a number of letters a second.
struct LetterPace {
    private let rate: Int
    private let start = ContinuousClock.now

    /// - Parameter rate: letters a second; 0 for no limit.
    init(rate: Int) { self.rate = rate }

    /// Returns the number of letters to write together: at most 500, and with a limit a tenth of a second's worth.
    static func batch(at rate: Int) -> Int { rate == 0 ? 500 : max(1, min(500, rate / 10)) }

    /// Waits until `count` letters may have been written.
    func keep(_ count: Int) async {
        guard rate > 0 else { return }
        let due = start + .seconds(Double(count) / Double(rate))
        // The rate that the operator set.
        if due > .now { try? await Task.sleep(until: due, clock: .continuous) }
    }
}
