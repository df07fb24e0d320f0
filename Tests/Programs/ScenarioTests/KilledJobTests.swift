import AsyncTestSupport
import Foundation
import Glibc
import Kafka
import ProgramTestSupport
import Testing

extension OperatorScenarios {
    /// Batch jobs that run as process 1, as in a container, and are killed at moments that a seed chooses.
    @Suite(.timeLimit(.minutes(5)), .enabled(if: Namespace.isAllowed, Namespace.howToAllow)) struct KilledJobTests {
        private static let environment = ProcessInfo.processInfo.environment
        private static let kills = environment["REMINT_TEST_KILLS"].flatMap { Int($0) } ?? (Scale.isLong ? 20 : 5)
        private static let seed = environment["REMINT_TEST_SEED"].flatMap { UInt64($0) } ?? 1
        private static let app = "infobip-mobile"

        @Test func `a job that is killed as process 1 resumes, and each user's second event is marked as one`()
            async throws
        {
            let count = Self.kills * 300
            let shop = try await Shop.open(partitions: 4)
            let input = shop.folder.appending(path: "users.csv")
            try Data(("user\n" + (0..<count).map { "u\($0)\n" }.joined()).utf8).write(to: input)
            let arguments = [
                "reissue", "--config", shop.configuration, "--app", Self.app, "--input", input.path, "--rate", "500",
            ]
            var random = Generator(state: Self.seed)
            var kills = 0
            while kills < Self.kills {
                let job = try Namespace.start(arguments)
                let moment = Duration.milliseconds(Int.random(in: 0...1200, using: &random))
                async let killing: Bool = Namespace.kill(job, after: moment)
                await job.waitForEnd()
                if await killing { kills += 1 }
                if job.status == 0 { break }
            }
            let last = try Namespace.start(arguments)
            await last.waitForEnd()
            #expect(last.status == 0, "\(last.errorText)")
            print("  killed job: seed \(Self.seed), \(kills) kills")

            var events: [[UInt8]: [(id: String?, isResent: Bool)]] = [:]
            try await shop.readBulkLane { record in
                events[record.key ?? [], default: []].append(
                    (record.member("id"), record.header("remint-resent") != nil))
            }
            #expect(events.count == count, "nobody is skipped")
            for (user, copies) in events where copies.count > 1 {
                let name = String(decoding: user, as: UTF8.self)
                let later = copies.dropFirst().count { !$0.isResent }
                #expect(later == 0, "\(name): the second event is not marked as one")
                let ids = Set(copies.map { $0.id })
                #expect(ids.count == 1, "\(name): the second event has another id")
                #expect(copies.count == 2, "\(name): \(copies.count) events")
            }
            let left = try FileManager.default.contentsOfDirectory(atPath: shop.folder.path).filter {
                $0.hasPrefix(".remint-") && $0.hasSuffix(".new")
            }
            #expect(left.isEmpty, "unfinished files are left: \(left)")
            await shop.broker.close()
        }
    }
}

/// PID namespaces, in which a program is process 1.
private enum Namespace {
    private static let unshare = ["--pid", "--fork", "--kill-child", "--mount-proc"]

    static let isAllowed: Bool = {
        let probe = Process()
        probe.executableURL = URL(filePath: "/usr/bin/env")
        probe.arguments = ["unshare"] + unshare + ["true"]
        probe.standardError = FileHandle.nullDevice
        guard (try? probe.run()) != nil else { return false }
        probe.waitUntilExit()
        return probe.terminationStatus == 0
    }()

    static let howToAllow: Comment =
        "needs PID namespaces: run it as root, or with CAP_SYS_ADMIN, where unshare is installed"

    static func start(_ arguments: [String]) throws -> Program {
        try Program("unshare", unshare + ["--", Repository.remint] + arguments)
    }

    /// Kills the program that is process 1 in the namespace of `job`.
    ///
    /// - Returns: whether it lived.
    static func kill(_ job: Program, after moment: Duration) async -> Bool {
        let end = ContinuousClock.now + moment
        try? await eventually("the moment of the kill") { .now >= end || job.status >= 0 }
        guard job.status < 0 else { return false }
        let list = "/proc/\(job.processID)/task/\(job.processID)/children"
        let children = (try? String(contentsOfFile: list, encoding: .utf8)) ?? ""
        guard let child = children.split(separator: " ").first.flatMap({ pid_t($0) }) else {
            // Its process 1 is not born yet.
            job.kill()
            return true
        }
        return Glibc.kill(child, SIGKILL) == 0
    }
}

/// SplitMix64, so that a run can be repeated.
private struct Generator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

extension Shop {
    /// Reads the bulk lane from its beginning to its end, partition by partition in order.
    fileprivate func readBulkLane(_ each: (ConsumedRecord) -> Void) async throws {
        let partitions = (0..<Int32(self.partitions)).map {
            PartitionOffset(TopicPartition(topic: "remint.invalidations.bulk", partition: $0), offset: 0)
        }
        let consumer = try KafkaConsumer(
            EmbeddedBroker.clientProperties.merging([
                "bootstrap.servers": broker.bootstrapServers, "group.id": "bulk-reader", "enable.partition.eof": "true",
                "auto.offset.reset": "earliest",
            ]), reading: partitions, logger: quiet)
        var open = partitions.count
        while open > 0 {
            try Task.checkCancellation()
            for event in await consumer.events(limit: 1000, within: .seconds(1)) {
                if case .record(let record) = event { each(record) }
                if case .endOfPartition = event { open -= 1 }
            }
        }
        await consumer.close(within: .seconds(5))
    }
}
