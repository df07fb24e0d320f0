import AdapterKit
import AsyncTestSupport
import CommandTestSupport
import Foundation
import Kafka
import Preflight
import ProgramTestSupport
import Synchronization
import Testing
import Vendors
import Worker
import WorkerConfiguration

/// A generated configuration with topics and groups of its own on the cluster, for workers in processes of their own.
final class Shop: Sendable {
    /// The settings in which a test differs from the rest.
    struct Wishes: Sendable {
        /// The number of partitions of each topic.
        var partitions = 6
        /// The configuration's value of `delivery`.
        var delivery = "exactly_once"
        /// Lines of the configuration's section `kafka`.
        var kafka: [String] = []
        /// Lines of the configuration's section `worker`.
        var worker: [String] = []
        /// Passages of the apps' configuration, and their replacements.
        var apps: [String: String] = [:]
        /// The workers' addresses of the cluster; nil for its own addresses.
        var brokers: String?
        var deadLetters: [String: String] = [:]
    }

    struct Topics: Sendable {
        let live, bulk, tokens, deadLetters, retries, control: String
        var tiers: [String] { Shop.tiers.map { "\(retries).\($0)" } }
        var inputs: [String] { [live, bulk] }
        var outcomes: [String] { [tokens, deadLetters] }
        var all: [String] { inputs + outcomes + tiers + [control] }
    }

    static let tiers = ["2s", "5s", "10s"]

    let group: String
    let topics: Topics
    let folder: URL
    var configuration: String { folder.appending(path: "remint.yaml").path }
    private let partitions: Int
    private let programs = Mutex<[Program]>([])
    private let temporary: TemporaryFolder

    init(_ wishes: Wishes) async throws {
        temporary = try TemporaryFolder()
        folder = temporary.url.appending(path: "shop")
        group = "remint-test-\(UInt32.random(in: .min ... .max))"
        topics = Topics(
            live: "\(group).invalidations", bulk: "\(group).invalidations.bulk", tokens: "\(group).tokens",
            deadLetters: "\(group).dead-letters", retries: "\(group).retries", control: "\(group).control")
        partitions = wishes.partitions
        try await DemoFolder.copy(to: folder, all: true)
        let file = folder.appending(path: "remint.yaml")
        let text = try String(contentsOf: file, encoding: .utf8)
        let keys = try #require(text.range(of: "keys:\n"))
        var apps = String(text[keys.lowerBound...])
        for (passage, replacement) in wishes.apps {
            try #require(apps.contains(passage))
            apps = apps.replacing(passage, with: replacement)
        }
        try Data((heading(wishes) + apps).utf8).write(to: file)
        try await createTopics(wishes)
    }

    private func heading(_ wishes: Wishes) -> String {
        """
        kafka:
          bootstrap_servers: "\(wishes.brokers ?? Cluster.brokers)"
          insecure: true
          group: \(group)
        \(wishes.kafka.map { "  \($0)\n" }.joined())  properties:
            session.timeout.ms: 6000
            heartbeat.interval.ms: 500
            transaction.timeout.ms: 3000
        delivery: \(wishes.delivery)
        topics:
          invalidations: \(topics.live)
          invalidations_bulk: \(topics.bulk)
          tokens: \(topics.tokens)
          dead_letters: \(topics.deadLetters)
          retries: \(topics.retries)
          control: \(topics.control)
        worker:
        \(section(wishes))
        admin: { listen: 127.0.0.1:0 }
        log: { level: info, format: text }

        """
    }

    private func section(_ wishes: Wishes) -> String {
        let retries = "retries: { tiers: [\(Self.tiers.joined(separator: ", "))], max_attempts: 100 }"
        return (wishes.worker + [retries]).map { "  \($0)" }.joined(separator: "\n")
    }

    // MARK: Topics

    private func createTopics(_ wishes: Wishes) async throws {
        let producer = try Cluster.makeProducer()
        for topic in topics.all {
            let settings = topic == topics.deadLetters ? wishes.deadLetters : [:]
            do {
                try await producer.createTopic(
                    topic, partitions: partitions, settings: settings, within: .seconds(30))
                // The controller answers before every broker knows the topic.
                try await eventually("the partitions of \(topic)") {
                    try await producer.metadata(of: topic, within: .seconds(30)).partitionCount >= partitions
                }
            } catch {
                await producer.close(within: .seconds(1))
                throw error
            }
        }
        await producer.close(within: .seconds(1))
    }

    func partitions(of topics: [String]) -> [TopicPartition] {
        topics.flatMap { topic in
            (0..<partitions).map { TopicPartition(topic: topic, partition: Int32($0)) }
        }
    }

    /// Runs `body` with a shop as `wishes` has it, and closes the shop afterward, whatever comes of it.
    static func open(_ wishes: Wishes = Wishes(), _ body: (Shop) async throws -> Void) async throws {
        let shop = try await Shop(wishes)
        do { try await body(shop) } catch {
            await shop.close()
            throw error
        }
        await shop.close()
    }

    // MARK: Workers

    func startProgram() throws -> Program {
        let program = try Program(Repository.remint, ["run", "--config", configuration])
        programs.withLock { $0.append(program) }
        return program
    }

    func startGateway(_ file: URL) throws -> Program {
        let program = try Program(Repository.remint, ["pickup", "--config", file.path])
        programs.withLock { $0.append(program) }
        return program
    }

    /// A worker for this process.
    ///
    /// - Parameter seconds: the seconds by which its clock is ahead.
    func service(ahead seconds: Int64) throws -> WorkerService {
        let source = ConfigurationSource(
            environment: { _ in nil }, file: { try? String(contentsOfFile: $0, encoding: .utf8) })
        return try WorkerService(
            Preflight(file: configuration, registry: .remint, source: source), logger: quiet, signingLanes: 2,
            now: { UnixTime(microseconds: Int64(Date.now.timeIntervalSince1970 * 1e6) + seconds * 1_000_000) })
    }

    /// Runs a command of an operator, at the brokers themselves.
    func command(_ arguments: String...) async throws {
        let program = try await Program.run(
            Repository.remint, arguments + ["--config", configuration, "--brokers", Cluster.brokers])
        try #require(program.status == 0, "\(program.errorText)")
    }

    // MARK: Events

    /// Produces `records`, each of them delivered for certain.
    func deliver(_ records: [ProducerRecord]) async throws {
        let producer = try Cluster.makeProducer()
        let errors = await producer.deliver(records)
        await producer.close(within: .seconds(10))
        try #require(errors.allSatisfy { $0 == nil }, "\(errors.compactMap { $0 }.prefix(1))")
    }

    /// Produces `count` events whose users and ids begin with `name`.
    func produce(_ name: String, _ count: Int) async throws {
        try await deliver(
            (0..<count).map {
                EventMix.report(
                    "infobip-mobile", #"{"code":"JWT_TOKEN_EXPIRED","externalUserId":"\#(name)-\#($0)"}"#,
                    id: "\(name)-\($0)", topic: topics.live)
            })
    }

    func waitForTokens(_ count: Int) async throws {
        try await TopicReader.wait(for: count, on: partitions(of: [topics.tokens]))
    }

    func tokens() async throws -> [ConsumedRecord] {
        try await TopicReader.records(of: partitions(of: [topics.tokens]))
    }

    /// Ends what is left of the workers and takes the topics away.
    func close() async {
        let left = programs.withLock { $0 }
        for program in left where program.status < 0 { program.kill() }
        for program in left { await program.waitForEnd() }
        keepLogs(of: left)
        guard let producer = try? Cluster.makeProducer() else { return }
        // A cluster that does not let us keeps them; that is no reason to fail.
        try? await producer.deleteTopics(topics.all, within: .seconds(30))
        await producer.close(within: .seconds(1))
    }

    private func keepLogs(of programs: [Program]) {
        guard !Cluster.logs.isEmpty else { return }
        for (number, program) in programs.enumerated() {
            let file = URL(filePath: Cluster.logs).appending(path: "\(group)-\(number).log")
            try? Data(program.errorText.utf8).write(to: file)
        }
    }
}
