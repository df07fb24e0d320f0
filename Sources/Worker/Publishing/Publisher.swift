import AdapterKit
import Kafka
import Logging
import Pipeline
import ServiceLifecycle
import Telemetry
import WorkerConfiguration

/// Publishes what a batch came to, and does not give up: a batch is only done when all of it is on its topics.
///
/// A topic that cannot be written stops the worker's consuming, loudly, until it can. A record too large for its topic is
/// not tried again: it ends as a dead letter by reference.
struct Publisher {
    let producer: KafkaProducer
    let topics: Configuration.Topics
    let logger: Logger
    let now: @Sendable () -> UnixTime

    /// Publishes the outputs of `settlements`, which came from `records`.
    ///
    /// - Returns: the settlements as they ended, or nil when the worker stops before everything was delivered: then nothing
    ///   of the batch may be committed.
    /// - Throws: `KafkaError` when the producer is of no further use: it would refuse everything for ever.
    func publish(
        _ settlements: [Settlement], of records: [InputRecord]
    ) async throws(KafkaError) -> [Settlement]? {
        var settlements = settlements
        var open = settlements.indices.filter { settlements[$0].output != nil }
        var attempt = 0
        while !open.isEmpty {
            let errors = await producer.deliver(
                open.compactMap { settlements[$0].output.map { ProducerRecord($0, topics: topics) } })
            var failed: [(index: Int, error: KafkaError, isSmaller: Bool)] = []
            for (index, error) in zip(open, errors) {
                guard let error else { continue }
                if error.isFatal || error.isFenced { throw error }
                let isTooLarge = error.code == .messageTooLarge
                let smaller = isTooLarge ? settlements[index].byReference(records[index], at: now()) : nil
                settlements[index] = smaller ?? settlements[index]
                failed.append((index, error, smaller != nil))
            }
            open = failed.map(\.index)
            // What became smaller is tried again at once; whatever failed as it was needs someone to look, and time.
            guard let first = failed.first(where: { !$0.isSmaller }) else { continue }
            report(first.error, of: settlements[first.index], count: failed.count)
            guard await pause(attempt) else { return nil }
            attempt += 1
        }
        if attempt > 0 { logger.notice("publishing works again", metadata: [LogKey.events: "\(settlements.count)"]) }
        return settlements
    }

    private func report(_ error: KafkaError, of settlement: Settlement, count: Int) {
        let topic = settlement.output.map { ProducerRecord($0, topics: topics).topic } ?? ""
        logger.error(
            "a topic cannot be written; nothing is consumed or committed until it can",
            metadata: [
                LogKey.topic: "\(topic)", LogKey.kafkaError: "\(error)", LogKey.events: "\(count)",
            ])
    }

    /// Waits 1, 2, 4 … up to 30 seconds.
    ///
    /// - Returns: false when the worker is to stop.
    private func pause(_ attempt: Int) async -> Bool {
        let seconds = min(30, 1 << min(attempt, 5))
        for _ in 0..<(seconds * 4) {
            if Task.isShuttingDownGracefully || Task.isCancelled { return false }
            // A graceful shutdown cancels nothing, so it is looked for between short sleeps.
            try? await Task.sleep(for: .milliseconds(250))
        }
        return true
    }
}
