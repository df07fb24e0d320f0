import Kafka
import Pipeline
import Signing
import Testing
import WorkerConfiguration
import WorkerTestSupport

@testable import Wiring
@testable import Worker

/// Tests of a session to which the broker answers the registration of its transactional id with an error.
@Suite(.timeLimit(.minutes(5))) struct RegistrationTests {
    private enum End: Equatable { case registered, unusable(String), fenced }

    @Test(arguments: [EmbeddedBroker.Request.initProducerID, .findCoordinator])
    func `a session registers again, unless another worker has its id`(_ request: EmbeddedBroker.Request) async throws {
        try await Brokers.with { broker in try await check(request, broker) }
    }

    /// Readers wait for the open transaction of a worker that was killed, whatever its successor waits for.
    @Test func `a session registers before it waits for topics`() async throws {
        try await Brokers.with { broker in
            let configuration = try readConfiguration(workerConfiguration(brokers: broker.bootstrapServers))
            try await broker.createTopic(configuration.topics.tokens, partitions: 1)
            try await broker.inject(.topic(configuration.topics.deadLetters, .topicAuthorizationFailed))
            #expect(try await end(of: .initProducerID, .producerFenced, broker, configuration) == .fenced)
        }
    }

    private func check(_ request: EmbeddedBroker.Request, _ broker: EmbeddedBroker) async throws {
        let configuration = try readConfiguration(workerConfiguration(brokers: broker.bootstrapServers))
        for topic in configuration.allTopics { try await broker.createTopic(topic, partitions: 1) }
        for error in EmbeddedBroker.ResponseError.allCases {
            let isFencing = request == .initProducerID && [.producerFenced, .invalidProducerEpoch].contains(error)
            let end = try await end(of: request, error, broker, configuration)
            #expect(end == (isFencing ? .fenced : .registered), "\(error)")
        }
    }

    private func end(
        of request: EmbeddedBroker.Request, _ error: EmbeddedBroker.ResponseError, _ broker: EmbeddedBroker,
        _ configuration: Configuration
    ) async throws -> End {
        let status = WorkerStatus()
        let metrics = WorkerMetrics()
        let observer = SessionObserver(status, metrics: metrics)
        let context = SessionContext(
            configuration: configuration, signer: LocalSigner([], lanes: 1), lookups: nil, observer: observer,
            requests: SessionRequests(status), unreadable: UnreadableRecords(metrics.unreadable, logger: silent),
            reachability: Reachability(observer), clock: ClockWatch(), clientLogger: silent, now: { Events.now })
        let ready = AsyncStream<Void>.makeStream()
        let session = Session(
            context: context, bootstrapServers: broker.bootstrapServers, instance: "x",
            isReady: { _ in ready.continuation.yield() })
        try await broker.inject(.errors(request, [error]))
        return try await withThrowingTaskGroup(of: End?.self) { group in
            group.addTask {
                var processor = BatchProcessor(
                    apps: [], signing: context.signer, maximumEventBytes: 1024, now: { Events.now })
                var committed = CommittedOffsets()
                var lanePauses = LanePauses()
                var blockage: Blockage?
                switch try await session.run(&processor, &committed, &lanePauses, &blockage) {
                case .stopped, .renewed, .reopened, .broken: return nil
                case .unusable(let error): return .unusable("\(error.code)")
                case .fenced: return .fenced
                }
            }
            group.addTask {
                for await _ in ready.stream { return .registered }
                return nil
            }
            defer { group.cancelAll() }
            while let end = try await group.next() { if let end { return end } }
            throw CancellationError()
        }
    }
}
