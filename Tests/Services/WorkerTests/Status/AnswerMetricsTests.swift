import AdapterKit
import Telemetry
import Testing

@testable import Pipeline
@testable import Worker

@Suite("Metrics of answers to reports")
struct AnswerMetricsTests {
    private static let now = UnixTime(seconds: 1_763_640_000)

    private func end(_ app: String?, _ outcome: Outcome = .minted, waited seconds: Double?) -> Settlement {
        Settlement(
            origin: RecordPosition(topic: "t", partition: 0, offset: 0), eventID: nil, app: app, outcome: outcome,
            output: nil, reportedAt: seconds.map { Self.now.advanced(byMicroseconds: Int64(-$0 * 1e6)) })
    }

    @Test func `each token that answers a report counts once for its app, and none took less than nothing`() {
        let registry = MetricsRegistry()
        let metrics = AnswerMetrics(registry)
        metrics.count([end("a", waited: 0.25), end("b", waited: -5), end("a", waited: 600)], at: Self.now)
        metrics.count([end("a", waited: nil), end("b", .superseded(.burst), waited: nil)], at: Self.now)
        let samples = registry.exposition().split(separator: "\n").filter { !$0.hasPrefix("#") }.map(String.init)
        let sums = samples.filter { !$0.contains("_bucket") }
        #expect(
            sums == [
                #"remint_answer_seconds_sum{app="a"} 600.25"#, #"remint_answer_seconds_count{app="a"} 2"#,
                #"remint_answer_seconds_sum{app="b"} 0"#, #"remint_answer_seconds_count{app="b"} 1"#,
            ])
        #expect(samples.contains(#"remint_answer_seconds_bucket{app="a",le="0.25"} 1"#))
        #expect(samples.contains(#"remint_answer_seconds_bucket{app="b",le="0.01"} 1"#))
    }
}
