import Foundation
import Kafka
import ProgramTestSupport
import Testing

extension BrokerTests {
    /// `remint topics` before a cluster's own answers.
    @Suite(.timeLimit(.minutes(5))) struct TopicCommandTests {
        /// A configuration with topics of its own.
        private static func file(_ prefix: String) -> String {
            """
            kafka: { bootstrap_servers: "\(Cluster.brokers)", insecure: true, group: \(prefix) }
            topics:
              invalidations: \(prefix).in
              invalidations_bulk: \(prefix).bulk
              tokens: \(prefix).tokens
              dead_letters: \(prefix).dead
              retries: \(prefix).retries
              control: \(prefix).control
            keys: { a: { path: a } }
            apps: { shop: { adapter: braze, key: a, lifetime: 12h } }
            """
        }

        @Test func `missing topics are planned, created and found as they should be; a bad one is reported and kept`()
            async throws
        {
            let folder = try TemporaryFolder()
            let prefix = "remint-test-\(UInt32.random(in: .min ... .max))"
            let config = folder.url.appending(path: "remint.yaml")
            try Data(Self.file(prefix).utf8).write(to: config)
            let names = ["in", "bulk", "tokens", "dead", "retries.10s", "retries.1m", "retries.10m", "control"]
                .map { "\(prefix).\($0)" }
            func topics(_ command: String, _ options: String...) async throws -> Program {
                try await Program.run(Repository.remint, ["topics", command, "--config", config.path] + options)
            }
            let producer = try Cluster.makeProducer()
            do {
                // Twice: asking creates none, not even where the cluster creates what is asked for by name.
                for _ in 0..<2 {
                    let plan = try await topics("plan", "--detailed-exitcode")
                    #expect(plan.status == 2, "\(plan.errorText)")
                    #expect(plan.outputText.contains("9 to create, 0 to change, 0 as they should be"))
                }
                #expect(try await topics("check").status == 1)

                let created = try await topics("create", "--partitions", "3")
                #expect(created.status == 0, "\(created.errorText)")
                for name in names { #expect(created.outputText.contains("created \(name): ")) }
                let settled = try await topics("plan", "--detailed-exitcode", "--partitions", "3", "--json")
                #expect(settled.status == 0, "\(settled.outputText)\(settled.errorText)")
                let again = try await topics("create")
                #expect(again.status == 0)
                #expect(again.outputText == "all 9 topics exist\n")
                #expect(try await topics("check").status == 0)
                let listed = try await producer.topics(within: .seconds(30))
                #expect(listed.first { $0.name == names[7] }?.partitionCount == 1)

                // An hour, where tokens live twelve.
                try await producer.configure(
                    names[2], settings: ["cleanup.policy": "compact,delete", "retention.ms": "3600000"],
                    within: .seconds(30))
                let bad = try await topics("check")
                #expect(bad.status == 1)
                #expect(
                    bad.errorText.contains(
                        "error: \(names[2]): retention.ms=3600000: tokens are deleted while they live"))
                let left = try await topics("create")
                #expect(left.errorText.contains("topics that exist and differ: 1"))
                let settings = try await producer.settings(of: [names[2]], within: .seconds(30))
                #expect(settings[names[2]]?["retention.ms"] == "3600000")
            } catch {
                try? await producer.deleteTopics(names, within: .seconds(30))
                await producer.close(within: .seconds(1))
                throw error
            }
            try? await producer.deleteTopics(names, within: .seconds(30))
            await producer.close(within: .seconds(1))
        }
    }
}
