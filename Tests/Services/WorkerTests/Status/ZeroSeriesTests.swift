import AdapterKit
import Foundation
import Kafka
import Keyring
import ProgramTestSupport
import Telemetry
import Testing
import Wiring
import WorkerTestSupport

@testable import Pipeline
@testable import Preflight
@testable import Worker
@testable import WorkerConfiguration

/// Tests of the series that exist before the first event: without them the first increase is none.
@Suite("Series before the first event") struct ZeroSeriesTests {
    private static let vendor = "https://api.push.example"

    /// The metrics of a worker whose apps are `push`, and `shop` with look-ups.
    private func metrics() throws -> (WorkerMetrics, [Configuration.App]) {
        let text = """
            kafka: { bootstrap_servers: "127.0.0.1:1" }
            keys: { push: { path: "ring" }, shop: { path: "other" } }
            apps:
              push: { adapter: dotdigital, key: push, settings: { issuer: acme, audience: "https://push.example" } }
              shop:
                adapter: braze
                key: shop
                lookup: { mode: verify, endpoint: "\(Self.vendor)", key_file: key }
            """
        let source = ConfigurationSource(
            environment: { _ in nil }, file: { ["c.yaml": text, "key": "0123456789abcdef"][$0] })
        let (configuration, diagnostics) = ConfigurationReader(registry: registry, source: source).read(
            "c.yaml")
        let apps = try #require(configuration?.apps, "\(diagnostics)")
        let metrics = WorkerMetrics()
        metrics.begin(apps)
        return (metrics, apps)
    }

    @Test func `each counter and histogram by app has a series with 0 for each configured app`() throws {
        let (metrics, apps) = try metrics()
        let (names, asking) = (Set(apps.map(\.name)), Set(apps.filter { $0.lookup != nil }.map(\.name)))
        #expect(asking == ["shop"])
        var count = 0
        let samples = metrics.registry.exposition().split(separator: "\n").filter { !$0.hasPrefix("#") }
        for row in metrics.registry.table where row.contains("`app`") && !row.contains("| gauge |") {
            let name = try #require(row.firstMatch(of: /`(\w+)`/)?.1)
            let own = samples.filter { $0.hasPrefix("\(name){") || $0.hasPrefix("\(name)_") }
            count += 1
            let shown = Set(own.compactMap { $0.firstMatch(of: /[{,]app="([^"]*)"/).map { String($0.1) } })
            let expected = name.hasPrefix("remint_lookup_") ? asking : names
            #expect(shown.subtracting([Configuration.App.unknown]) == expected, "\(name)")
            #expect(own.allSatisfy { $0.hasSuffix(" 0") }, "\(name)")
        }
        #expect(count >= 9)
    }

    @Test func `apps that a reload adds have their series, and those that it removes have none`() throws {
        let (metrics, apps) = try metrics()
        metrics.keep(apps: ["push"], accounts: [])
        metrics.begin(apps.filter { $0.name == "push" })
        let text = metrics.registry.exposition()
        #expect(text.contains(#"app="push""#) && !text.contains(#"app="shop""#))
        #expect(
            text.contains(
                #"remint_outcomes_total{app="unknown",outcome="dead_lettered",code="unknown_app",reason=""} 0"#))
    }

    @Test func `an event of an app that is not configured counts for the reserved name`() throws {
        let (metrics, _) = try metrics()
        metrics.ends.count([
            Settlement(
                origin: RecordPosition(topic: "t", partition: 0, offset: 0), eventID: nil, app: nil,
                outcome: .deadLettered(.unknownApp), output: nil)
        ])
        let text = metrics.registry.exposition()
        #expect(
            text.contains(
                #"remint_outcomes_total{app="unknown",outcome="dead_lettered",code="unknown_app",reason=""} 1"#))
        #expect(!text.contains(#"app="""#))
    }

    /// `increase` needs a value before the first fault.
    @Test func `each counter whose increase fires an alert exists before its first increase`() throws {
        let (metrics, _) = try metrics()
        metrics.partitions.begin([TopicPartition(topic: "t", partition: 0)])
        metrics.sessions.add()
        let rules = try String(
            contentsOf: Repository.root.appending(path: "config/prometheus/remint.rules.yaml"), encoding: .utf8)
        let text = metrics.registry.exposition()
        let asked = rules.matches(of: /increase\((remint_[a-z_]+_total)(?:\{([a-z]+="[a-z_]+")\})?\[/)
        #expect(asked.count > 8)
        for match in asked where match.1 != "remint_kafka_tokens_total" {
            let lines = text.split(separator: "\n").filter { line in
                (line.hasPrefix("\(match.1){") || line.hasPrefix("\(match.1) "))
                    && (match.2.map { line.contains($0) } ?? true)
            }
            #expect(!lines.isEmpty, "\(match.0)")
        }
    }

    @Test func `a paused app is not suspended, and a suspended one not paused`() {
        let metrics = WorkerMetrics()
        func app(_ name: String, _ cause: Suspension.Cause?, _ reach: Suspension.Reach = .everyone)
            -> WorkerStatus.AppStatus
        {
            let suspension = cause.map { Suspension(app: name, cause: $0, reach: reach, since: UnixTime(seconds: 0)) }
            return .init(name: name, adapter: "braze", keyRing: "r", keyVersion: nil, suspension: suspension)
        }
        metrics.set(
            [
                app("well", nil), app("paused", .paused), app("ill", .suspended),
                app("half", .suspended, .refusingUsers),
            ],
            memory: (0, 0))
        let text = metrics.registry.exposition()
        let values = ["well": (0, 0), "paused": (0, 1), "ill": (1, 0), "half": (0, 0)]
        for (name, (suspended, paused)) in values {
            #expect(text.contains("\nremint_app_suspended{app=\"\(name)\"} \(suspended)\n"), "\(name)")
            #expect(text.contains("\nremint_app_paused{app=\"\(name)\"} \(paused)\n"), "\(name)")
        }
    }
}
