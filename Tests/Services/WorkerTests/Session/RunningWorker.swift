import AdapterKit
import AsyncTestSupport
import Foundation
import Kafka
import Logging
import Pipeline
import ServiceLifecycle
import Synchronization
import WorkerConfiguration
import WorkerTestSupport

@testable import Preflight
@testable import Wiring
@testable import Worker

/// A whole worker in this process, on a broker that can be disturbed.
struct RunningWorker {
    let broker: EmbeddedBroker
    let configuration: Configuration
    let status: WorkerStatus
    let log: RecordingLog
    let admin: AdminClient
    let ends: Ends
    private let preflight: Preflight
    private let group: ServiceGroup
    private let task: Task<Void, any Error>

    /// The visible outcomes that the worker reported.
    final class Ends: Sendable {
        private let settlements = Mutex<[Settlement]>([])

        var all: [Settlement] { settlements.withLock { $0 } }
        var count: Int { settlements.withLock { $0.count } }
        /// The distinct events among them.
        var events: Set<RecordPosition> { Set(all.map(\.origin)) }

        func add(_ new: [Settlement]) { settlements.withLock { $0 += new } }
    }

    /// Runs a test on a worker, and stops it afterwards as SIGTERM does.
    ///
    /// - Parameters:
    ///   - kafka: more lines of `kafka.properties`.
    ///   - more: more sections.
    ///   - disturb: what happens to the broker before the worker starts.
    static func with(
        kafka: [String] = [], more: String = "",
        disturb: (EmbeddedBroker, Configuration) async throws -> Void = { _, _ in },
        _ body: (RunningWorker) async throws -> Void
    ) async throws {
        let folder = try TemporaryFolder()
        let ring = "\(folder.path)/ring"
        try KeyRings.make(ring)
        try await Brokers.with { broker in
            let text = workerConfiguration(
                brokers: broker.bootstrapServers, kafka: ["message.timeout.ms: 2000"] + kafka, ring: ring,
                more: "admin: { listen: \"127.0.0.1:0\" }\n\(more)")
            let source = ConfigurationSource(environment: { _ in nil }, file: { $0 == "c.yaml" ? text : nil })
            let preflight = Preflight(file: "c.yaml", registry: registry, source: source)
            guard let configuration = preflight.configuration, preflight.isReady else {
                throw WorkerError("\(preflight.diagnostics)")
            }
            for topic in configuration.allTopics { try await broker.createTopic(topic, partitions: 2) }
            try await disturb(broker, configuration)
            let worker = try await start(preflight, configuration, broker)
            do { try await body(worker) } catch {
                await worker.kill()
                throw error
            }
            await worker.kill()
        }
    }

    private static func start(
        _ preflight: Preflight, _ configuration: Configuration, _ broker: EmbeddedBroker
    ) async throws -> RunningWorker {
        let log = RecordingLog(), ends = Ends()
        let service = try WorkerService(
            preflight, logger: log.logger(.info), signingLanes: 2,
            now: { UnixTime(microseconds: Int64(Date.now.timeIntervalSince1970 * 1e6)) }, observe: { ends.add($0) })
        let group = ServiceGroup(configuration: .init(services: [.init(service: service)], logger: silent))
        let task = Task { try await group.run() }
        let address = await log.line(event: "admin.listening").metadata["remint.admin.address"] ?? ""
        return RunningWorker(
            broker: broker, configuration: configuration, status: service.status, log: log,
            admin: AdminClient(address: address), ends: ends, preflight: preflight, group: group, task: task)
    }

    /// Stops as SIGTERM does, and runs `body` on another worker with the same configuration.
    func replaced(_ body: (RunningWorker) async throws -> Void) async throws {
        try await stop()
        try await joined(body)
    }

    /// Runs `body` on another worker of the same group, beside this one.
    func joined(_ body: (RunningWorker) async throws -> Void) async throws {
        let next = try await Self.start(preflight, configuration, broker)
        do { try await body(next) } catch {
            await next.kill()
            throw error
        }
        await next.kill()
    }

    /// Writes these words to the control topic.
    static func control(_ broker: EmbeddedBroker, _ configuration: Configuration, _ words: [ControlWord]) async throws {
        let producer = try KafkaProducer(["bootstrap.servers": broker.bootstrapServers], logger: silent)
        let errors = await producer.deliver(
            words.map { ProducerRecord(topic: configuration.topics.control, key: $0.key, value: $0.value) }
        ).compactMap { $0 }
        await producer.close(within: patience)
        if let error = errors.first { throw error }
    }

    /// Stops as SIGTERM does.
    func stop() async throws {
        await group.triggerGracefulShutdown()
        try await task.value
    }

    /// The result of the worker's run.
    var result: Result<Void, any Error> { get async { await task.result } }

    private func kill() async {
        await group.triggerGracefulShutdown()
        _ = await task.result
    }

    /// Waits until the live lane has partitions, by the log.
    func assigned() async {
        _ = await log.line { $0.event == "partitions.assigned" && $0.metadata["remint.lane"] == "live" }
    }

    /// Produces events, each answered with a token of its own.
    func produce(_ numbers: Range<Int>) async throws {
        try await produce(
            numbers.map { Array(#"{"provider":"jsonWebToken","nonce":"n-\#($0)","userId":"user-\#($0)"}"#.utf8) })
    }

    /// Produces events with these values.
    func produce(_ values: [[UInt8]]) async throws {
        let producer = try KafkaProducer(["bootstrap.servers": broker.bootstrapServers], logger: silent)
        let records = values.map {
            ProducerRecord(
                topic: configuration.topics.invalidations, key: nil, value: $0,
                headers: [RecordHeader("remint-app", Array("push".utf8))])
        }
        let errors = await producer.deliver(records).compactMap { $0 }
        await producer.close(within: patience)
        if let error = errors.first { throw error }
    }
}
