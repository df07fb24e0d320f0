package import Kafka
import Logging
import Wiring
import WorkerConfiguration

/// The records to write for a dead letter.
package struct HandledLetter: Sendable {
    /// The letter.
    package let name: LetterName
    /// The letter's event, or a copy of the letter for another topic.
    package let record: ProducerRecord
    /// The mark that the letter was dealt with; nil where the run writes none: a parked copy needs none, and without
    /// the topic of parked letters there is no place for one.
    package let mark: ProducerRecord?
}

/// Writes letters and the marks that go with them.
///
/// Where the worker delivers exactly once, a transaction holds both, and all redrives and parkings of a group share one
/// transactional id: the latest run keeps earlier ones from committing anything more. At least once, a letter is
/// delivered before its mark; if the process ends between the two, the next run delivers the letter again.
struct LetterWriter {
    private let producer: KafkaProducer
    private let isTransactional: Bool

    /// A writer at `brokers`; an exclusive one where `isExclusive` and the configuration delivers exactly once.
    ///
    /// - Throws: `KafkaError`.
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

    func close() async { await producer.close(within: .seconds(10)) }

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
        if due > .now { try? await Task.sleep(until: due, clock: .continuous) }
    }
}
