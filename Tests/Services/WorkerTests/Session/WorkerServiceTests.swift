import AsyncTestSupport
import Kafka
import Logging
import Pipeline
import Testing
import WorkerTestSupport

@testable import Preflight
@testable import Wiring
@testable import Worker
@testable import WorkerConfiguration

@Suite(.timeLimit(.minutes(5))) struct WorkerServiceTests {
    @Test func `a worker answers events, counts them in its metrics, and stops when asked to`() async throws {
        try await RunningWorker.with { worker in
            try await eventually("readiness") { try await worker.admin.ask("/health/ready").status == 200 }
            try await worker.produce(0..<50)
            try await worker.produce([Array("nonsense".utf8)])
            try await eventually("every end") { worker.ends.events.count == 51 }
            #expect(worker.ends.all.count { $0.outcome == .minted } == 50)
            #expect(try await worker.admin.metric("remint_events_total{lane=\"live\"}") == 51)
            #expect(try await worker.admin.metric("remint_minted_total{app=\"push\",algorithm=\"HS256\"}") == 50)
            #expect(try await worker.admin.metric("remint_sessions_total") == 1)
            #expect(try await worker.admin.ask("/health/live").status == 200)
            try await worker.stop()
            await worker.log.line(event: "worker.stopped")
            #expect(worker.ends.count == 51, "nothing finished twice")
            let alarms = worker.log.lines.filter { $0.level >= .error }
            #expect(alarms.isEmpty, "\(alarms)")
        }
    }

    @Test func `a worker stops before it has partitions`() async throws {
        try await RunningWorker.with { worker in
            try await worker.stop()
        }
    }

    @Test func `a quiet worker takes nothing new and stays in its groups`() async throws {
        try await RunningWorker.with { worker in
            await worker.assigned()
            try await worker.produce(0..<5)
            try await eventually("the first ends") { worker.ends.count == 5 }
            worker.status.toggleQuiet()
            await worker.log.line(event: "worker.quiet")
            #expect(try await worker.admin.ask("/health/ready").status == 503)
            try await worker.produce(5..<10)
            // Some heartbeats long: nothing counts them. Whatever was taken would have ended.
            let end = ContinuousClock.now + .seconds(2)
            try await eventually("the end of two seconds") {
                let ended = try await worker.admin.metric("remint_events_total{lane=\"live\"}")
                #expect(ended == 5)
                return .now >= end
            }
            #expect(!worker.log.lines.contains { $0.event == "partitions.revoked" })
            worker.status.toggleQuiet()
            try await eventually("the other ends") { worker.ends.count == 10 }
            #expect(!worker.log.lines.contains { $0.event == "partitions.revoked" })
            try await eventually("readiness") { try await worker.admin.ask("/health/ready").status == 200 }
        }
    }

    @Test func `a producer of no further use is replaced, and no event is lost`() async throws {
        try await RunningWorker.with { worker in
            await worker.assigned()
            try await worker.produce(0..<3)
            try await eventually("the first ends") { worker.ends.count == 3 }
            // An abort that is refused: nothing is known of the transaction.
            try await worker.broker.inject(.errors(.transactionOffsetCommit, [.illegalGeneration]))
            try await worker.broker.inject(.errors(.endTransaction, [.requestTimedOut]))
            try await worker.produce(3..<6)
            try await eventually("another session") {
                try await worker.admin.metric("remint_sessions_total") == 2
            }
            // The mock keeps no transaction's offsets, so the first ones come again.
            try await eventually("every end") { worker.ends.events.count == 6 }
            try await eventually("readiness") { try await worker.admin.ask("/health/ready").status == 200 }
        }
    }

    /// A transaction that outlived its timeout is fenced, too.
    @Test func `a worker whose producer is fenced once answers with a new one`() async throws {
        try await RunningWorker.with { worker in
            await worker.assigned()
            try await worker.broker.inject(.errors(.endTransaction, [.producerFenced]))
            try await worker.produce(0..<3)
            _ = await worker.log.line { $0.event == "kafka-clients.replaced" }
            try await eventually("every end") { worker.ends.events.count == 3 }
        }
    }

    @Test func `a worker loses no event to a group that takes the partitions away`() async throws {
        try await RunningWorker.with { worker in
            await worker.assigned()
            try await worker.produce(0..<20)
            try await worker.broker.inject(.errors(.heartbeat, Array(repeating: .unknownMemberID, count: 3)))
            try await worker.produce(20..<40)
            try await eventually("every end") { worker.ends.events.count == 40 }
        }
    }

    @Test func `an address that is taken ends the worker with an error`() async throws {
        let log = RecordingLog()
        let status = WorkerStatus()
        let server = AdminServer(
            address: .init(host: "127.0.0.1", port: 0), status: status, metrics: WorkerMetrics().registry,
            reporter: StatusReporter(), logger: log.logger())
        let other = Task { try await server.run() }
        defer { other.cancel() }
        let address = await log.line(event: "admin.listening").metadata["remint.admin.address"] ?? ""
        let folder = try TemporaryFolder()
        try KeyRings.make("\(folder.path)/ring")
        let text = workerConfiguration(
            brokers: "127.0.0.1:1", ring: "\(folder.path)/ring", more: "admin: { listen: \"\(address)\" }")
        let source = ConfigurationSource(environment: { _ in nil }, file: { _ in text })
        let worker = try WorkerService(
            Preflight(file: "c.yaml", registry: registry, source: source), logger: silent, signingLanes: 1,
            now: { Events.now })
        let error = await #expect(throws: WorkerError.self) { try await worker.run() }
        #expect(error?.description.contains(address) == true)
    }
}
