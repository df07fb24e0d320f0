import AdapterKit
import Kafka
import Logging
import Pipeline
import WorkerConfiguration
import WorkerTestSupport

@testable import Wiring
@testable import Worker

/// A broker with the worker's topics, and a member of each lane's group: what a committer needs beside its producer.
struct CommitBench {
    let broker: EmbeddedBroker
    let configuration: Configuration
    let properties: KafkaProperties
    let lanes: LaneConsumers

    var consumers: PerLane<KafkaConsumer> { lanes.consumers }

    /// Runs a test on a bench of its own.
    ///
    /// - Parameters:
    ///   - brokers: how many brokers there are.
    ///   - joining: the lanes whose groups are joined before the test.
    ///   - kafka: more lines of `kafka.properties`.
    static func with<Result>(
        brokers: Int = 1, joining: [Lane] = [.live], kafka: [String] = [], _ body: (CommitBench) async throws -> Result
    ) async throws -> Result {
        try await Brokers.with(count: brokers) { broker in
            let configuration = try readConfiguration(
                // Nobody polls the members once they have joined.
                workerConfiguration(brokers: broker.bootstrapServers, kafka: kafka + ["max.poll.interval.ms: 600000"]))
            for topic in configuration.allTopics { try await broker.createTopic(topic, partitions: 2) }
            let properties = KafkaProperties(configuration, bootstrapServers: broker.bootstrapServers)
            let lanes = try await LaneConsumers(configuration, properties, logger: silent)
            let bench = CommitBench(
                broker: broker, configuration: configuration, properties: properties, lanes: lanes)
            do {
                for lane in joining { try await bench.join(lane) }
                let result = try await body(bench)
                _ = await lanes.close(within: patience)
                return result
            } catch {
                _ = await lanes.close(within: patience)
                throw error
            }
        }
    }

    /// Waits until the lane's consumer has its partitions.
    func join(_ lane: Lane) async throws {
        let consumer = consumers[lane]
        while await consumer.assignedPartitions.isEmpty {
            try Task.checkCancellation()
            for case .rebalance(let rebalance) in await consumer.events(limit: 100, within: .milliseconds(200)) {
                let starts = Dictionary(uniqueKeysWithValues: rebalance.partitions.map { ($0, Int64(0)) })
                try await consumer.answer(rebalance, from: starts)
            }
        }
    }

    /// Runs a test with a transactional producer that is ready.
    func withProducer<Result>(
        logger: Logger = silent, _ body: (KafkaProducer) async throws -> Result
    ) async throws -> Result {
        let producer = try KafkaProducer(properties.transactionalProducer(id: "x"), logger: logger)
        do {
            producer.prepare(configuration.outputTopics)
            try await producer.initTransactions(within: patience)
            let result = try await body(producer)
            await producer.close(within: .zero)
            return result
        } catch {
            await producer.close(within: .zero)
            throw error
        }
    }

    func committer(_ producer: KafkaProducer) -> TransactionalCommitter {
        TransactionalCommitter(
            producer: producer, consumers: consumers, configuration: configuration, now: { Events.now })
    }
}

extension CommitBench {
    /// The group takes the lane's partitions away, and the worker has not answered yet.
    func lose(_ lane: Lane) async throws {
        while await !consumers[lane].isAssignmentLost {
            try Task.checkCancellation()
            try await broker.inject(.errors(.heartbeat, [.unknownMemberID]))
            _ = await consumers[lane].events(limit: 100, within: .milliseconds(200))
        }
    }
}

/// The result of a commit, for comparison; errors by their names.
enum Ended: Equatable, CustomStringConvertible {
    case committed
    case aborted(String)
    case blocked(String, String)
    case unusable(String)
    case fenced(String)

    init(_ result: CommitResult) {
        switch result {
        case .committed: self = .committed
        case .aborted(let error): self = .aborted("\(error.code)")
        case .blocked(let blockage): self = .blocked(blockage.topic, "\(blockage.error.code)")
        case .unusable(let error): self = .unusable("\(error.code)")
        case .fenced(let error): self = .fenced("\(error.code)")
        }
    }

    /// Whether the same producer goes on.
    var isEnd: Bool {
        switch self {
        case .committed, .aborted, .blocked: false
        case .unusable, .fenced: true
        }
    }

    var description: String {
        switch self {
        case .committed: "committed"
        case .aborted(let code): "aborted: \(code)"
        case .blocked(let topic, let code): "blocked: \(topic): \(code)"
        case .unusable(let code): "unusable: \(code)"
        case .fenced(let code): "fenced: \(code)"
        }
    }
}

extension BlockageCheck {
    var isCleared: Bool { if case .cleared = self { true } else { false } }

    /// The code that still blocks the commit; nil if nothing blocks it, or the commit failed otherwise.
    var blockedCode: KafkaError.Code? { if case .blocked(let error) = self { error.code } else { nil } }
}
