import AdapterKit
import Foundation
import Kafka
import Keyring
import Operations
import Testing
import WorkerConfiguration
import WorkerTestSupport

/// A batch job whose run ends in the middle of a batch.
@Suite(.timeLimit(.minutes(5))) struct ReissueJobTests {
    private struct Down: Error {}

    /// A bulk lane that takes some of each batch and fails then, the given number of times.
    private final class FailingLane: BulkLane {
        private(set) var events: [(id: String, key: [UInt8], isResent: Bool)] = []
        var failures = 0
        /// The number of a batch's events that it takes before it fails.
        var taken = 0
        var isReadable = true

        func deliver(_ records: [ProducerRecord]) async throws {
            let fails = failures > 0
            for record in fails ? records.prefix(taken) : records[...] {
                guard let value = record.value, let id = (try JSONDocument(parsing: value)).root["id"]?.string else {
                    throw Down()
                }
                events.append((id, record.key ?? [], record.body.text("remint-resent") != nil))
            }
            guard fails else { return }
            failures -= 1
            throw Down()
        }

        func events(named ids: Set<String>, since time: UnixTime) async throws -> [String: [UInt8]] {
            guard isReadable else { throw Down() }
            return events.reduce(into: [:]) { if ids.contains($1.id) { $0[$1.id] = $1.key } }
        }

        var lag: Int? { get async { 0 } }

        func close(within limit: Duration) async {}
    }

    /// Runs a job of `count` users until it is finished.
    private func run(_ count: Int, _ lane: FailingLane) async throws -> ReissueProgress {
        let folder = try TemporaryFolder()
        let files = ReissueFiles(state: "\(folder.path)/job.json")
        let configuration = try CampaignSequenceTests.configuration()
        let app = try #require(configuration.apps.first { $0.name == "push" })
        while true {
            var progress = try files.load() ?? ReissueProgress(job: "job", input: "users")
            var rows = (0..<count).map { row in
                ReissueJob.Item(
                    row: UserRow(line: row + 1, user: .success(Array(#"{"registered":"u\#(row)"}"#.utf8))), app: nil)
            }[...]
            let job = ReissueJob(
                configuration: configuration, app: app, files: files, pace: ReissuePace(rate: nil), total: count,
                lane: { lane }, display: NoDisplay(), now: { UnixTime(seconds: 1_800_000_000) })
            do {
                _ = try await job.run(&progress) {
                    defer { rows = [] }
                    return rows.isEmpty ? nil : Array(rows)
                }
                return progress
            } catch is Down { continue }
        }
    }

    @Test(arguments: [1, 2, 5], [0, 1, 7, 10])
    func `a job that fails within a batch, however often, sends nobody a second event`(_ failures: Int, _ taken: Int)
        async throws
    {
        let lane = FailingLane()
        (lane.failures, lane.taken) = (failures, taken)
        let progress = try await run(10, lane)
        #expect(progress.sent == 10)
        #expect(Set(lane.events.map(\.id)).count == 10 && lane.events.count == 10, "\(lane.events)")
    }

    @Test func `a job that cannot read the lane sends the whole batch again, and reports it`() async throws {
        let lane = FailingLane()
        (lane.failures, lane.taken, lane.isReadable) = (1, 7, false)
        let progress = try await run(10, lane)
        #expect(progress.sent == 10)
        #expect(lane.events.count == 17)
        #expect(lane.events.prefix(7).allSatisfy { !$0.isResent } && lane.events.dropFirst(7).allSatisfy(\.isResent))
    }

    @Test func `a rest between waves ends within seconds of the step that pauses the job`() async throws {
        let folder = try TemporaryFolder()
        let files = ReissueFiles(state: "\(folder.path)/job.json")
        let configuration = try CampaignSequenceTests.configuration()
        var progress = ReissueProgress(job: "job", input: "users")
        var rows = ["a", "b"].map { name in
            ReissueJob.Item(
                row: UserRow(line: 1, user: .success(Array(#"{"registered":"\#(name)"}"#.utf8))), app: nil)
        }[...]
        let lane = FailingLane()
        let job = ReissueJob(
            configuration: configuration, app: configuration.apps.first { $0.name == "push" }, files: files,
            pace: ReissuePace(rate: nil, wave: 1, rest: 3600), total: 2, lane: { lane }, display: NoDisplay(),
            now: { UnixTime(seconds: 1_800_000_000) }, mayContinue: { lane.events.isEmpty })
        // An hour's rest outlasts the suite's limit.
        let end = try await job.run(&progress) {
            defer { rows = [] }
            return rows.isEmpty ? nil : Array(rows)
        }
        #expect(end == .paused && lane.events.count == 1 && progress.sent == 1)
        #expect(try files.load()?.sent == 1)
    }
}
