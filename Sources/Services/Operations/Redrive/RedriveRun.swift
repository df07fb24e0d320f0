package import AdapterKit
package import Kafka
package import Logging
package import Pipeline
import Wiring
package import WorkerConfiguration

/// One redrive: reads, publishes and commits, batch after batch.
package struct RedriveRun {
    /// The outcome of a run.
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

    /// - Throws: `KafkaError`.
    package func run(brokers: String, group: String, logger: Logger) async throws -> Result {
        let properties = KafkaProperties(configuration, bootstrapServers: brokers)
        let topic = configuration.topics.parkedLetters
        let isMarked = try await properties.topicNames(logger: logger).contains(topic)
        // From here on no other redrive or parking of the group commits anything, so that what is read next stays true.
        let writer = try await LetterWriter(
            configuration, brokers: brokers, isExclusive: isMarked && !isDryRun, logger: logger)
        do {
            var states = try await LetterStates.read(configuration, brokers: brokers, logger: logger)
            let consumer = try KafkaConsumer(
                properties.reader(group: group), topics: [configuration.topics.deadLetters], logger: logger)
            let result = try await consumer.whileOpen(closingWithin: .seconds(10)) { consumer in
                try await drive(consumer, writer, &states)
            }
            await writer.close()
            return result
        } catch {
            await writer.close()
            throw error
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

    /// Returns the offsets behind the last record of each partition.
    private static func ends(of records: [ConsumedRecord]) -> [PartitionOffset] {
        var ends: [TopicPartition: Int64] = [:]
        for record in records {
            ends[TopicPartition(record.position)] = record.position.nextOffset
        }
        return ends.map { PartitionOffset($0, offset: $1) }
    }
}
