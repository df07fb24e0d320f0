import Kafka
package import Logging
import Pipeline
package import WorkerConfiguration

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

    /// - Throws: `KafkaError`, or `MissingTopic`.
    package func run(brokers: String, logger: Logger) async throws -> RedriveRun.Result {
        // From here on no other redrive or parking of the group commits anything, so that what is read next stays true.
        let writer = try await LetterWriter(configuration, brokers: brokers, isExclusive: !isDryRun, logger: logger)
        do {
            guard let states = try await LetterStates.read(configuration, brokers: brokers, logger: logger) else {
                throw MissingTopic(configuration.topics.parkedLetters)
            }
            let reader = try await TopicReader(order.source, configuration, brokers: brokers, logger: logger)
            let result = try await drive(reader, writer, states)
            await writer.close()
            return result
        } catch {
            await writer.close()
            throw error
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
