import AdapterKit
import Telemetry
import Testing

@testable import Pipeline
@testable import Worker

@Suite("Metrics of outcomes")
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
                #"remint_outcomes_total{app="a",outcome="minted",code="",reason=""} 2"#,
                #"remint_outcomes_total{app="a",outcome="skipped",code="",reason=""} 2"#,
                #"remint_outcomes_total{app="a",outcome="superseded",code="older_token",reason=""} 1"#,
                #"remint_outcomes_total{app="a",outcome="superseded",code="same_batch",reason=""} 1"#,
                #"remint_outcomes_total{app="b",outcome="minted",code="",reason=""} 2"#,
                #"remint_outcomes_total{app="unknown",outcome="dead_lettered",code="unknown_app",reason=""} 1"#,
                #"remint_superseded_total{app="a"} 1"#,
            ])
    }

    @Test func `a token that a wrong clock called expired counts, whether it was replaced or not`() {
        let registry = MetricsRegistry()
        let metrics = OutcomeMetrics(registry)
        let replaced = Settlement(
            origin: RecordPosition(topic: "t", partition: 0, offset: 0), eventID: nil, app: "a", outcome: .minted,
            output: nil, algorithm: .rs256, isClockSkew: true, hasUnreadableTime: true)
        metrics.count([replaced, end("a", .superseded(.clockSkew)), end("a", .minted, .rs256)])
        #expect(samples(registry).contains(#"remint_clock_skew_total{app="a"} 2"#))
        #expect(samples(registry).contains(#"remint_unreadable_times_total{app="a"} 1"#))
        #expect(
            samples(registry).contains(
                #"remint_outcomes_total{app="a",outcome="superseded",code="clock_skew",reason=""} 1"#))
    }

    @Test func `an app that is gone has no series, and the totals stay`() {
        let metrics = WorkerMetrics()
        metrics.ends.count([end("a", .minted, .rs256), end("b", .minted, .hs256), end("b", .skipped("why"))])
        var tally = LookupTally()
        for app in ["a", "b"] { tally.count(verdict: "exists", of: app) }
        metrics.lookups.add(tally)
        metrics.keep(apps: ["a"], accounts: [])
        // An event that was in work ended since.
        metrics.ends.count([end("b", .minted, .hs256)])
        for _ in 0..<2 {
            let text = metrics.registry.exposition()
            #expect(text.contains(#"app="a""#) && !text.contains(#"app="b""#))
            let counted = metrics.outcomeCounts
            #expect(counted.filter { $0.outcome == "minted" }.reduce(0) { $0 + $1.count } == 3)
            #expect(counted.filter { $0.app == "" }.reduce(0) { $0 + $1.count } == 3)
        }
    }

    @Test func `outcomes counted between a reload's two steps stay in the totals`() {
        let metrics = WorkerMetrics()
        metrics.ends.count([end("b", .minted, .hs256)])
        metrics.ends.forgetNames()
        // An event that was in work ends, and somebody reads the page.
        metrics.ends.count([end("b", .minted, .hs256)])
        _ = metrics.outcomeCounts
        metrics.registry.keep("app") { $0.isEmpty || $0 == "a" }
        #expect(metrics.outcomeCounts.map(\.app) == [""])
        #expect(metrics.outcomeCounts.map(\.count) == [2])
    }

    @Test func `no outcome that is counted meanwhile is lost`() async {
        let metrics = WorkerMetrics()
        await withTaskGroup(of: Void.self) { group in
            for app in ["a", "b"] {
                group.addTask { for _ in 0..<2000 { metrics.ends.count([end(app, .minted, .rs256)]) } }
            }
            group.addTask { for round in 0..<2000 { metrics.keep(apps: [round % 2 == 0 ? "a" : "b"], accounts: []) } }
            group.addTask { for _ in 0..<200 { _ = metrics.registry.exposition() } }
        }
        #expect(metrics.outcomeCounts.reduce(0) { $0 + $1.count } == 4000)
    }

    @Test func `accounts of look-ups that are gone have no series`() {
        let metrics = WorkerMetrics()
        func condition(_ account: String) -> LookupCondition {
            LookupCondition(account: account, circuit: "closed", trouble: nil, waiting: 1, inFlight: 1)
        }
        metrics.lookups.set([condition("a"), condition("b")], remembered: 0)
        metrics.lookups.set([condition("b")], remembered: 0)
        let text = metrics.registry.exposition()
        #expect(!text.contains(#"account="a""#) && text.contains(#"account="b""#))
    }
}

@Suite("Counting a few different things")
struct TallyTests {
    @Test func `counts are what a dictionary counts, in any order`() {
        var tally = Tally<Int>()
        var expected: [[String]: Int] = [:]
        for number in [1, 1, 2, 1, 3, 3, 2, 2, 2, 1] {
            tally.count(number)
            expected[[String(number)], default: 0] += 1
        }
        #expect(sums(tally) { [String($0)] } == expected)
        #expect(sums(tally) { $0 == 2 ? ["two"] : nil } == [["two"]: 4])
        #expect(sums(tally) { _ in ["all"] } == [["all"]: 10])
    }

    @Test func `a thousand kinds in turns are counted each`() {
        var tally = Tally<Int>()
        for number in 0..<3000 { tally.count(number % 1000) }
        let counts = tally.counts { [String($0)] }
        #expect(counts.count == 1000)
        #expect(counts.allSatisfy { $0.value == 3 })
    }

    @Test func `counts from before a reset are not counted again`() {
        var tally = Tally<Int>()
        for number in [1, 2, 2] { tally.count(number) }
        tally.reset()
        #expect(tally.counts { [String($0)] }.isEmpty)
        for number in [2, 3] { tally.count(number) }
        #expect(sums(tally) { [String($0)] } == [["2"]: 1, ["3"]: 1])
    }

    private func sums(_ tally: Tally<Int>, _ labels: (Int) -> [String]?) -> [[String]: Int] {
        tally.counts(labels).reduce(into: [:]) { $0[$1.key, default: 0] += $1.value }
    }
}

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
