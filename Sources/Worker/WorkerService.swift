public import AdapterKit
import Kafka
import Keyring
public import Logging
public import Pipeline
public import ServiceLifecycle
import Telemetry
import WorkerConfiguration

/// The worker: consumes events, takes each to its end, publishes, and only then commits.
///
/// It runs until a graceful shutdown, finishes the batch in hand and leaves its group. A crash at any point loses nothing:
/// what was not committed is consumed again (at least once).
public struct WorkerService: Service {
    private let configuration: Configuration
    private let rings: [KeyRing]
    private let logger: Logger
    private let signingLanes: Int
    private let now: @Sendable () -> UnixTime
    private let observe: @Sendable ([Settlement]) -> Void
    private let isReady: @Sendable (String) -> Void
    private let counters = Counters()

    /// - Parameters:
    ///   - preflight: a configuration that is ready.
    ///   - signingLanes: threads that sign, usually one per core.
    ///   - observe: told of every batch that was published and is about to be committed.
    ///   - isReady: told the brokers' address once the worker consumes.
    /// - Throws: `WorkerError` where the configuration is not ready.
    public init(
        _ preflight: Preflight, logger: Logger, signingLanes: Int, now: @escaping @Sendable () -> UnixTime,
        observe: @escaping @Sendable ([Settlement]) -> Void = { _ in },
        isReady: @escaping @Sendable (String) -> Void = { _ in }
    ) throws(WorkerError) {
        guard let configuration = preflight.configuration, preflight.isReady else {
            throw WorkerError("the configuration has errors; run: remint check")
        }
        self.configuration = configuration
        rings = Array(preflight.rings.values)
        self.logger = logger
        self.signingLanes = signingLanes
        self.now = now
        self.observe = observe
        self.isReady = isReady
    }

    public func run() async throws {
        let broker =
            configuration.kafka.isEmbedded ? try await EmbeddedTopics.start(configuration, logger: logger) : nil
        let address = broker?.bootstrapServers ?? configuration.kafka.bootstrapServers
        let properties = KafkaProperties(configuration, bootstrapServers: address)
        let producer = try KafkaProducer(properties.producer, logger: logger)
        do {
            try await requireTopics(producer)
            try await consume(properties.consumer, producer, address)
        } catch {
            await producer.close(within: .seconds(1))
            await broker?.close()
            throw error
        }
        await close(producer, broker)
    }

    // MARK: Start and stop

    /// A typing mistake in a topic's name must show before the first event, not as a token that goes nowhere.
    private func requireTopics(_ producer: KafkaProducer) async throws {
        for topic in configuration.topics.inputs + configuration.topics.outputs {
            let metadata = try await producer.metadata(of: topic, within: .seconds(15))
            guard metadata.partitionCount > 0 else {
                throw WorkerError(
                    "the topic \(topic) does not exist or may not be used: \(metadata.error?.message ?? "no partitions"); create it or rename it under topics"
                )
            }
        }
    }

    private func consume(_ properties: ClientProperties, _ producer: KafkaProducer, _ address: String) async throws {
        let consumer = try KafkaConsumer(properties, topics: configuration.topics.inputs, logger: logger)
        logger.notice(
            "the worker consumes",
            metadata: [
                LogKey.bootstrapServers: "\(address)", LogKey.delivery: "\(configuration.delivery.rawValue)",
                LogKey.topic: "\(configuration.topics.inputs.joined(separator: ", "))",
            ])
        isReady(address)
        var loop = ConsumerLoop(
            consumer: consumer, configuration: configuration, processor: makeProcessor(),
            publisher: Publisher(producer: producer, topics: configuration.topics, logger: logger, now: now),
            logger: logger,
            counters: counters, observe: observe)
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                // A batch may take longer to publish than the group waits for a sign of life. The sleep is the period, well
                // under a third of the default max.poll.interval.ms; the loop's end cancels it.
                group.addTask {
                    while !Task.isCancelled {
                        try? await Task.sleep(for: .seconds(20))
                        await consumer.keepAlive()
                    }
                }
                defer { group.cancelAll() }
                try await loop.run()
            }
        } catch {
            await consumer.close(within: .seconds(5))
            throw error
        }
        // Leaving the group hands the partitions on at once instead of after the session's end.
        if !(await consumer.close(within: configuration.worker.shutdownDeadline / 2)) {
            logger.warning("leaving the group took too long; it will notice by itself")
        }
    }

    private func close(_ producer: KafkaProducer, _ broker: EmbeddedBroker?) async {
        await producer.close(within: configuration.worker.shutdownDeadline / 4)
        await broker?.close()
        let totals = counters.current
        logger.notice(
            "the worker stopped",
            metadata: [
                LogKey.minted: "\(totals.minted)", LogKey.skipped: "\(totals.skipped)",
                LogKey.deadLettered: "\(totals.deadLettered)",
            ])
    }

    private func makeProcessor() -> BatchProcessor {
        let apps = configuration.apps.map { app in
            App(
                name: app.name, adapter: app.adapter, keyRing: app.key, lifetime: app.lifetime,
                missingUser: app.skipsMissingUser ? .skip : .deadLetter)
        }
        return BatchProcessor(
            apps: apps, signing: LocalSigner(rings, lanes: signingLanes),
            maximumEventBytes: configuration.worker.maximumEventBytes, now: now)
    }
}
