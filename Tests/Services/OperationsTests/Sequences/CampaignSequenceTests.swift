import AdapterKit
import AsyncTestSupport
import BloomreachAdapter
import Foundation
import Testing
import WorkerConfiguration

/// Random commands of two operators on a ring and its campaigns, with a crash or a full disk at any step, and with the one's
/// commands between the other's: no key is lost, no change goes unlogged, the ring and the campaign never disagree unsaid.
///
/// `REMINT_TEST_SEQUENCES` is the number of sequences, `REMINT_TEST_SEED` the first one's seed.
@Suite struct CampaignSequenceTests {
    private static func number(_ name: String) -> Int? {
        ProcessInfo.processInfo.environment[name].flatMap { Int($0) }
    }

    /// One ring of shared secrets, and apps whose users can be asked for, by their rings.
    static func configuration(_ apps: [String: String] = ["push": "push"]) throws -> Configuration {
        let rings = Set(apps.values).union(["push"]).sorted()
        let text = """
            kafka: { bootstrap_servers: "127.0.0.1:9" }
            keys: { \(rings.map { "\($0): { path: \($0 == "push" ? "ring" : $0) }" }.joined(separator: ", ")) }
            apps:
            \(apps.sorted { $0.key < $1.key }.map { app, ring in
                "  \(app): { adapter: bloomreach, key: \(ring), settings: { mode: customer_token } }"
            }.joined(separator: "\n"))
            """
        let source = ConfigurationSource(environment: { _ in nil }, file: { $0 == "c.yaml" ? text : nil })
        let registry = AdapterRegistry([.init(BloomreachAdapter.self)])
        let (configuration, diagnostics) = ConfigurationReader(registry: registry, source: source).read("c.yaml")
        return try #require(configuration, "\(diagnostics)")
    }

    @Test func `no sequence of campaign commands loses a key, a log line or the ring's agreement`() async throws {
        let configuration = try Self.configuration()
        let first = Self.number("REMINT_TEST_SEED") ?? 1
        let count = Self.number("REMINT_TEST_SEQUENCES") ?? Scale.rounds(400)
        let thread = OperatorThread()
        defer { thread.stop() }
        try await withTaskExecutorPreference(thread) {
            var (faults, finished, events) = (0, 0, 0)
            for seed in first..<first + count {
                let sequence = try await CampaignSequence(seed: UInt64(seed), configuration)
                defer { sequence.remove() }
                do { try await sequence.run() } catch {
                    let commands = sequence.trace.joined(separator: "\n")
                    Issue.record("REMINT_TEST_SEED=\(seed): \(error)\n\(commands)")
                    return
                }
                if ProcessInfo.processInfo.environment["REMINT_TEST_TRACE"] != nil {
                    print("seed \(seed):\n\(sequence.trace.joined(separator: "\n"))")
                }
                faults += sequence.faults
                finished += sequence.finished
                events += sequence.cluster.events
            }
            #expect(faults > 0 && events > 0, "commands met their faults, and events were sent")
            print(
                "  sequences: \(count) from seed \(first); \(faults) faults, \(finished) campaigns retired, \(events) events"
            )
        }
    }
}
