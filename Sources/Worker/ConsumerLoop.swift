import AdapterKit
import Kafka
import Logging
import Pipeline
import ServiceLifecycle
import Telemetry
import WorkerConfiguration

/// Batch after batch: gather, process, publish, commit; and whatever the group asks in between.
struct ConsumerLoop {
    let consumer: KafkaConsumer
    let configuration: Configuration
    var processor: BatchProcessor
    let publisher: Publisher
    let logger: Logger
    let counters: Counters
    let observe: @Sendable ([Settlement]) -> Void
    private var progress = PartitionProgress()

    init(
        consumer: KafkaConsumer, configuration: Configuration, processor: BatchProcessor, publisher: Publisher,
        logger: Logger, counters: Counters, observe: @escaping @Sendable ([Settlement]) -> Void
    ) {
        self.consumer = consumer
        self.configuration = configuration
        self.processor = processor
        self.publisher = publisher
        self.logger = logger
        self.counters = counters
        self.observe = observe
    }

    /// Runs until a graceful shutdown.
    ///
    /// - Throws: `KafkaError` when the consumer or the producer is of no further use.
    mutating func run() async throws {
        while !Task.isShuttingDownGracefully, !Task.isCancelled {
            let gathered = try await gather()
            // A lost assignment is someone else's already: nothing of it is answered or committed any more.
            if gathered.rebalance?.kind != .revoked(isLost: true) {
                if !gathered.records.isEmpty, !(try await settle(gathered.records)) { break }
                await commit()
            }
            if let rebalance = gathered.rebalance { await answer(rebalance) }
        }
    }

    private struct Gathered {
        var records: [InputRecord] = []
        var rebalance: Rebalance?
    }

    /// Up to a batch of records: the first that come, and what follows them within the linger time. A rebalance ends it.
    private func gather() async throws -> Gathered {
        var gathered = Gathered()
        let limit = configuration.worker.batchEvents
        var wait = Duration.milliseconds(200)
        var deadline: ContinuousClock.Instant?
        while wait > .zero, gathered.records.count < limit {
            let events = await consumer.events(limit: limit - gathered.records.count, within: wait)
            for event in events {
                switch event {
                case .record(let record): gathered.records.append(InputRecord(record))
                case .rebalance(let rebalance): gathered.rebalance = rebalance
                case .error(let error): try handle(error)
                }
            }
            if gathered.rebalance != nil || gathered.records.isEmpty { break }
            let end = deadline ?? .now + configuration.worker.batchLinger
            deadline = end
            wait = end - .now
        }
        return gathered
    }

    /// Takes `records` to their ends.
    ///
    /// - Returns: false when the worker stops before that.
    /// - Throws: `KafkaError` when the producer is of no further use; nothing of the batch is committed then.
    private mutating func settle(_ records: [InputRecord]) async throws(KafkaError) -> Bool {
        for record in records { progress.taken(record.origin) }
        let settlements = await processor.process(records)
        guard let published = try await publisher.publish(settlements, of: records) else { return false }
        for settlement in published { progress.finished(settlement.origin) }
        counters.count(published)
        report(published)
        observe(published)
        return true
    }

    /// One line per batch at most, by code: what the dead letters say stands in their headers.
    private func report(_ settlements: [Settlement]) {
        var codes: [String: Int] = [:]
        for settlement in settlements {
            if case .deadLettered(let code) = settlement.outcome { codes[code.rawValue, default: 0] += 1 }
        }
        guard !codes.isEmpty else { return }
        let list = codes.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", ")
        logger.warning("events were dead-lettered", metadata: [LogKey.errorCode: "\(list)"])
    }

    private mutating func commit() async {
        let offsets = progress.committable
        guard !offsets.isEmpty else { return }
        do throws(KafkaError) {
            try await consumer.commit(
                offsets.map { PartitionOffset(TopicPartition(topic: $0.topic, partition: $0.number), offset: $1) })
            progress.committed(offsets)
        } catch {
            // The next commit covers it; if the partitions go first, another member repeats these events.
            logger.warning("offsets could not be committed", metadata: [LogKey.kafkaError: "\(error)"])
        }
    }

    private mutating func answer(_ rebalance: Rebalance) async {
        let names = rebalance.partitions.map(\.description).joined(separator: ", ")
        logger.info(
            rebalance.kind == .assigned ? "partitions were assigned" : "partitions were revoked",
            metadata: [LogKey.partitions: "\(names)"])
        if rebalance.kind != .assigned { progress.dropped(rebalance.partitions.map(PartitionProgress.Partition.init)) }
        do throws(KafkaError) { try await consumer.answer(rebalance) } catch {
            logger.warning("the group moved on before it was answered", metadata: [LogKey.kafkaError: "\(error)"])
        }
    }

    private func handle(_ error: KafkaError) throws {
        guard !error.isFatal else { throw error }
        logger.warning("the consumer reports an error", metadata: [LogKey.kafkaError: "\(error)"])
    }
}
