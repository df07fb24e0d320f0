import AdapterKit
import ArgumentParser
import Bench
import CommandKit
import Foundation
import JOSE
import Kafka
import Keyring
import Logging
import Pipeline
import WorkerConfiguration

/// A worker in a process of its own, with topics and keys of its own, and the tasks that feed and watch it.
final class BenchStage {
    private static let partitions: Int32 = 6
    /// As `EmbeddedBroker.clientProperties`, for a worker that knows the broker by its address alone.
    private static let embeddedProperties =
        #"fetch.wait.max.ms: "10", session.timeout.ms: "6000", heartbeat.interval.ms: "500""#
    private let app: BenchApp
    /// The configured apps' names, among which the events are spread.
    private let apps: [String]
    private let names: Topics
    private let program: URL
    private let folder: URL
    private var worker: WorkerProcess
    private let properties: ClientProperties
    private let logger: Logger
    private let isEmbedded: Bool
    private let producer: KafkaProducer
    /// The consumer that reads the offsets of the worker's group.
    private let group: KafkaConsumer
    /// The number of events that were written.
    private var fed = 0

    private struct Topics {
        let prefix: String
        var live: String { "\(prefix).live" }
        var tokens: String { "\(prefix).tokens" }
        var all: [String] {
            [live, "\(prefix).bulk", tokens, "\(prefix).dead", "\(prefix).retries.10s", "\(prefix).control"]
        }
        var partitions: [TopicPartition] {
            (0..<BenchStage.partitions).map { TopicPartition(topic: live, partition: $0) }
        }
    }

    /// - Parameters:
    ///   - program: the measured program.
    ///   - apps: the number of apps, each with a key ring of its own.
    ///   - subjects: the number of recent subjects that the worker remembers; nil for its default.
    init(
        _ app: BenchApp, _ broker: BenchBroker, program: URL, apps: Int = 1, subjects: Int? = nil
    ) async throws {
        self.app = app
        self.program = program
        self.apps = (0..<max(1, apps)).map { app.name(of: $0) }
        names = Topics(prefix: "remint-bench-\(UInt32.random(in: 0 ... .max))")
        folder = FileManager.default.temporaryDirectory.appending(path: names.prefix)
        logger = broker.logger
        var properties: ClientProperties = broker.embedded == nil ? [:] : EmbeddedBroker.clientProperties
        properties["bootstrap.servers"] = broker.servers
        producer = try KafkaProducer(["bootstrap.servers": broker.servers, "linger.ms": "0"], logger: logger)
        for topic in names.all {
            if let embedded = broker.embedded {
                try await embedded.createTopic(topic, partitions: Int(Self.partitions))
            } else {
                try await producer.createTopic(topic, partitions: Int(Self.partitions), within: .seconds(30))
            }
        }
        group = try KafkaConsumer(
            properties.merging(["group.id": names.prefix, "enable.auto.commit": "false"]), reading: [], logger: logger)
        self.properties = properties
        worker = WorkerProcess(program, folder)
        isEmbedded = broker.embedded != nil
        try configure(broker, subjects)
    }

    private func configure(_ broker: BenchBroker, _ subjects: Int?) throws {
        for app in apps { try makeRing(app) }
        let admission = subjects.map { ", admission: { subjects: \($0) }" } ?? ""
        let rings = apps.map { "\($0): { path: keys/\($0) }" }.joined(separator: ", ")
        let members = "adapter: \(type(of: app.adapter).name), settings: \(app.settings)"
        let integrations = apps.map { "\($0): { \(members), key: \($0) }" }.joined(separator: ", ")
        let yaml = """
            kafka:
              bootstrap_servers: "\(broker.servers)"
              group: \(names.prefix)
              insecure: true
              properties: { \(isEmbedded ? Self.embeddedProperties : "") }
            delivery: \(broker.delivery)
            topics:
              invalidations: \(names.live)
              invalidations_bulk: \(names.prefix).bulk
              tokens: \(names.tokens)
              dead_letters: \(names.prefix).dead
              retries: \(names.prefix).retries
              control: \(names.prefix).control
            worker: { retries: { tiers: [10s] }\(admission) }
            log: { level: warning, format: text }
            keys: { \(rings) }
            apps: { \(integrations) }

            """
        try Data(yaml.utf8).write(to: folder.appending(path: "remint.yaml"))
    }

    private func makeRing(_ name: String) throws {
        let ring = folder.appending(path: "keys/\(name)")
        try FileManager.default.createDirectory(
            at: ring, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        try KeyRingDirectory(path: ring.path).create(
            app.generateKey(), id: "bench-1", secretEncoding: app.adapter.secretEncoding, at: UnixTime.system())
    }

    // MARK: The worker

    /// Starts the worker in groups that are new, then once more in the same groups.
    ///
    /// - Returns: the time from the second start to its first token, in seconds.
    func start() async throws -> Double {
        try worker.launch()
        try await answer(100)
        worker.stop()
        try await feed(100)
        let before = fed - 100
        worker = WorkerProcess(program, folder)
        let start = ContinuousClock.now
        try worker.launch()
        while try await done() == before { try await Task.sleep(for: .milliseconds(5)) }
        let seconds = (.now - start) / .seconds(1)
        try await waitUntilDone()
        return seconds
    }

    /// Feeds the worker the given number of events, and waits until it has answered them.
    func answer(_ events: Int) async throws {
        try await feed(events)
        try await waitUntilDone()
    }

    /// Makes the worker take nothing new. It checks for commands five times a second.
    func rest() async throws {
        worker.toggleQuiet()
        try await Task.sleep(for: .milliseconds(500))
    }

    /// Makes the worker continue, and measures from its first commit to its last.
    func drain() async throws -> WorkerResult.Drain {
        var (first, start, cpu) = (try await done(), ContinuousClock.now, worker.cpuSeconds)
        let (before, rested) = (first, cpu)
        worker.toggleQuiet()
        while first == before {
            try await pause()
            first = try await done()
        }
        // So few that one commit held them all: the order to go on was the beginning.
        if first == fed { first = before } else { (start, cpu) = (.now, worker.cpuSeconds) }
        try await waitUntilDone()
        let seconds = (.now - start) / .seconds(1)
        let end = worker.cpuSeconds
        return WorkerResult.Drain(
            eventsPerSecond: Double(fed - first) / seconds, cores: (end - cpu) / seconds,
            cpuSecondsPerEvent: (end - rested) / Double(fed - before))
    }

    /// The most memory the worker had, in bytes.
    var peakBytes: Int { worker.peakBytes }

    /// Stops everything, and removes the topics and files that were made.
    func end() async {
        worker.stop()
        if !isEmbedded { try? await producer.deleteTopics(names.all, within: .seconds(10)) }
        await group.close(within: .seconds(5))
        await producer.close(within: .seconds(5))
        try? FileManager.default.removeItem(at: folder)
    }

    // MARK: Events

    /// Writes events of users who are all different.
    func feed(_ events: Int) async throws {
        for first in stride(from: 0, to: events, by: 5000) {
            let records = (first..<min(first + 5000, events)).map { _ in event() }
            if let error = await producer.deliver(records).compactMap({ $0 }).first { throw error }
        }
    }

    private func event() -> ProducerRecord {
        fed += 1
        let user = "user-\(fed)"
        return ProducerRecord(
            topic: names.live, key: Array(user.utf8), value: Array(app.report(user).utf8),
            headers: [
                RecordHeader("remint-app", Array(apps[fed % apps.count].utf8)),
                RecordHeader("remint-id", Array("event-\(fed)".utf8)),
            ])
    }

    /// Returns the number of events that the worker's group has committed.
    private func done() async throws -> Int {
        guard worker.isRunning else {
            throw BenchFailed("the worker exited; its last output is printed before this line")
        }
        return try await group.committed(names.partitions, within: .seconds(10)).values.reduce(0) { $0 + Int($1) }
    }

    /// Waits until the worker has committed all events. Constant questions would take time from the worker, so it asks
    /// nothing for half of the expected rest.
    private func waitUntilDone() async throws {
        let (start, first) = (ContinuousClock.now, try await done())
        var seen = first
        while seen < fed {
            let rest = seen > first ? (.now - start) * (Double(fed - seen) / Double(seen - first)) : .zero
            try await pause(min(rest / 2, .seconds(1)))
            seen = try await done()
        }
    }

    private func pause(_ length: Duration = .zero) async throws {
        try await Task.sleep(for: max(length, .milliseconds(20)))
    }

    // MARK: Latency

    /// Returns the times of events that came at `rate`, from before they were produced until their tokens were seen.
    func waits(rate: Int, seconds: Int) async throws -> [Duration] {
        var ends: [PartitionOffset] = []
        for partition in 0..<Self.partitions {
            let place = TopicPartition(topic: names.tokens, partition: partition)
            ends.append(
                PartitionOffset(place, offset: try await group.bounds(of: place, within: .seconds(10)).upperBound))
        }
        let reader = try KafkaConsumer(
            properties.merging([
                "group.id": "\(names.prefix)-reader", "enable.auto.commit": "false",
                "isolation.level": "read_committed", "fetch.wait.max.ms": "10",
            ]),
            reading: ends, logger: logger)
        return try await reader.whileOpen(closingWithin: .seconds(5)) { reader in
            // What happens once: connections, the reader's first fetch.
            _ = try await exchange(rate, rate, reader)
            return try await exchange(rate * seconds, rate, reader)
        }
    }

    private func exchange(_ events: Int, _ rate: Int, _ reader: KafkaConsumer) async throws -> [Duration] {
        let names = (fed + 1...fed + events).map { "event-\($0)" }
        async let seen = Self.see(Set(names), reader)
        var produced: [String: ContinuousClock.Instant] = [:]
        let start = ContinuousClock.now
        try await withThrowingDiscardingTaskGroup { deliveries in
            for (index, name) in names.enumerated() {
                try await Task.sleep(until: start + .seconds(1) * index / rate, clock: .continuous)
                let record = event()
                produced[name] = .now
                // Whether it arrived is seen by its token.
                deliveries.addTask { [producer] in _ = await producer.deliver([record]) }
            }
        }
        return try await seen.compactMap { name, instant in produced[name].map { instant - $0 } }
    }

    private static func see(
        _ names: Set<String>, _ reader: KafkaConsumer
    ) async throws -> [String: ContinuousClock.Instant] {
        var seen: [String: ContinuousClock.Instant] = [:]
        var last = ContinuousClock.now
        while seen.count < names.count {
            try Task.checkCancellation()
            for event in await reader.events(limit: 1000, within: .seconds(1)) {
                guard case .record(let record) = event,
                    let name = try? PublishedToken(record.body, at: UnixTime.system()).eventID
                else { continue }
                last = .now
                if names.contains(name) { seen[name] = last }
            }
            guard .now - last < .seconds(60) else {
                throw BenchFailed(
                    "\((names.count - seen.count).of("event was", "events were")) not answered within a minute")
            }
        }
        return seen
    }
}

/// The broker at which a worker is measured, and the worker's way of delivery.
struct BenchBroker {
    /// `bootstrap.servers`.
    let servers: String
    /// `delivery` of the configuration.
    let delivery: String
    /// The broker within this process, where it is that one.
    let embedded: EmbeddedBroker?
    let logger: Logger

    /// The options that name it.
    struct Options: ParsableArguments {
        @Option(help: "Address of a real cluster (host:port), or embedded. The embedded broker delivers at least once.")
        var brokers = "embedded"
        @Option(help: "Delivery of the worker: exactly_once or at_least_once.") var delivery: String?

        var isEmbedded: Bool { brokers == "embedded" }

        func validate() throws {
            guard ["exactly_once", "at_least_once", nil].contains(delivery) else {
                throw ValidationError("--delivery is exactly_once or at_least_once")
            }
            if !isEmbedded { _ = try brokerList(brokers) }
            guard !isEmbedded || delivery != "exactly_once" else {
                throw ValidationError(
                    "the embedded broker isolates no transaction: --brokers host:port for exactly_once")
            }
        }

        /// Runs `body` with the broker, which is there as long as that takes.
        func withBroker<Result>(_ body: (BenchBroker) async throws -> Result) async throws -> Result {
            let logger = Logger.quiet
            guard isEmbedded else {
                return try await body(
                    BenchBroker(
                        servers: brokers, delivery: delivery ?? "exactly_once", embedded: nil, logger: logger))
            }
            let broker = try EmbeddedBroker(logger: logger)
            do {
                let result = try await body(
                    BenchBroker(
                        servers: broker.bootstrapServers, delivery: "at_least_once", embedded: broker, logger: logger))
                await broker.close()
                return result
            } catch {
                await broker.close()
                throw error
            }
        }
    }
}

extension Logger {
    /// A logger for problems only, on standard error.
    static var quiet: Logger {
        Logger(label: "remint-bench") { label in
            var handler = StreamLogHandler.standardError(label: label)
            handler.logLevel = .warning
            return handler
        }
    }
}

/// A service of the measured program in a process of its own, seen from outside.
struct WorkerProcess {
    private let process = Process()

    /// The worker of `program` with the configuration in `folder`.
    ///
    /// - Parameter command: another of the program's services.
    init(_ program: URL, _ folder: URL, command: String = "run") {
        process.executableURL = program
        process.arguments = [command, "--config", folder.appending(path: "remint.yaml").path]
    }

    func launch() throws { try process.run() }

    var isRunning: Bool { process.isRunning }

    /// Sends SIGUSR1: the worker takes nothing new, or, the second time, takes everything again.
    func toggleQuiet() { kill(process.processIdentifier, SIGUSR1) }

    /// Sends SIGTERM, and waits until the process has exited.
    func stop() {
        guard process.isRunning else { return }
        process.terminate()
        process.waitUntilExit()
    }

    /// The processor time it has used, by all threads, in seconds.
    var cpuSeconds: Double {
        // Behind the program's name, which may hold anything: state, …, utime and stime as fields 14 and 15 of proc(5).
        let file = "/proc/\(process.processIdentifier)/stat"
        guard let text = try? String(contentsOfFile: file, encoding: .utf8), let end = text.lastIndex(of: ")") else {
            return 0
        }
        let fields = text[end...].split(separator: " ")
        guard fields.count > 13, let user = Double(fields[12]), let system = Double(fields[13]) else { return 0 }
        return (user + system) / Double(max(1, sysconf(Int32(_SC_CLK_TCK))))
    }

    /// The memory it has, in bytes.
    var residentBytes: Int { ResidentMemory.now(of: process.processIdentifier) }

    /// The most memory it had, in bytes.
    var peakBytes: Int { ResidentMemory.peak(of: process.processIdentifier) }
}

/// A process's memory as the kernel counts it, in bytes.
enum ResidentMemory {
    /// The memory of this process, in bytes.
    static var now: Int { bytes("VmRSS:", of: "self") }
    /// The most this process had.
    static var peak: Int { bytes("VmHWM:", of: "self") }

    /// Returns the memory of another process, in bytes.
    static func now(of process: Int32) -> Int { bytes("VmRSS:", of: String(process)) }

    /// Returns the peak memory of another process, in bytes.
    static func peak(of process: Int32) -> Int { bytes("VmHWM:", of: String(process)) }

    private static func bytes(_ name: String, of process: String) -> Int {
        guard let text = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8),
            let line = text.split(separator: "\n").first(where: { $0.hasPrefix(name) })
        else { return 0 }
        return (Int(line.dropFirst(name.count).filter(\.isNumber)) ?? 0) << 10
    }
}
