import AdapterKit
import Telemetry
import Testing

@testable import Pipeline
@testable import Worker

@Suite("How events ended, as the metrics say")
struct OutcomeMetricsTests {
    private func end(_ app: String?, _ outcome: Outcome, _ algorithm: Algorithm? = nil) -> Settlement {
        Settlement(
            origin: RecordPosition(topic: "t", partition: 0, offset: 0), eventID: nil, app: app, outcome: outcome,
            output: nil,
            algorithm: algorithm)
    }

    /// The samples, sorted, of what was counted.
    private func samples(_ registry: MetricsRegistry) -> [String] {
        registry.exposition().split(separator: "\n").filter { !$0.hasPrefix("#") }.map(String.init).sorted()
    }

    @Test func `each end counts once, however often and whenever the metrics are read`() {
        let registry = MetricsRegistry()
        let metrics = OutcomeMetrics(registry)
        #expect(samples(registry).isEmpty)
        metrics.count([
            end("a", .minted, .rs256), end("b", .minted, .hs256), end("a", .minted, .rs256),
            end("a", .skipped("the first reason")), end("a", .skipped("another one")),
        ])
        for _ in 0..<2 {
            #expect(
                samples(registry) == [
                    #"remint_minted_total{app="a",algorithm="RS256"} 2"#,
                    #"remint_minted_total{app="b",algorithm="HS256"} 1"#,
                    #"remint_outcomes_total{app="a",outcome="minted",code="",reason=""} 2"#,
                    #"remint_outcomes_total{app="a",outcome="skipped",code="",reason=""} 2"#,
                    #"remint_outcomes_total{app="b",outcome="minted",code="",reason=""} 1"#,
                ])
        }
        metrics.count([
            end("b", .minted, .hs256), end("a", .superseded(.sameBatch)), end("a", .superseded(.olderToken)),
            end(nil, .deadLettered(.unknownApp)),
        ])
        #expect(
            samples(registry) == [
                #"remint_coalesced_total{app="a"} 1"#,
                #"remint_minted_total{app="a",algorithm="RS256"} 2"#,
                #"remint_minted_total{app="b",algorithm="HS256"} 2"#,
                #"remint_outcomes_total{app="",outcome="dead_lettered",code="unknown_app",reason=""} 1"#,
                #"remint_outcomes_total{app="a",outcome="minted",code="",reason=""} 2"#,
                #"remint_outcomes_total{app="a",outcome="skipped",code="",reason=""} 2"#,
                #"remint_outcomes_total{app="a",outcome="superseded",code="older_token",reason=""} 1"#,
                #"remint_outcomes_total{app="a",outcome="superseded",code="same_batch",reason=""} 1"#,
                #"remint_outcomes_total{app="b",outcome="minted",code="",reason=""} 2"#,
                #"remint_superseded_total{app="a"} 1"#,
            ])
    }
}
