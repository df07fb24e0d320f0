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
            var random = SeededGenerator(seed: Self.seed)
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
            for record in try await shop.records(of: ["remint.invalidations.bulk"]) {
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
            await shop.close()
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
