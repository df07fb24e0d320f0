import Pipeline
import Testing

@testable import Worker

@Suite("The history of the last minute")
struct StatusHistoryTests {
    private let start = ContinuousClock.now

    /// A sample after `seconds`, with a number of finished events of the live lane.
    private func sample(_ seconds: Int, ended: Int, latency: [Int] = []) -> StatusHistory.Sample {
        .init(
            at: start + .seconds(seconds), taken: PerLane { $0 == .live ? ended : 0 }, ended: ended, minted: ended / 2,
            latency: PerLane { $0 == .live ? latency : [] })
    }

    @Test func `the history has no rates before its second sample`() {
        var history = StatusHistory()
        #expect(history.rates == StatusReport.Rates())
        history.add(sample(0, ended: 1000))
        #expect(history.rates == StatusReport.Rates())
        #expect(history.takenPerSecond(.live) == 0)
        #expect(history.latency(.live, bounds: [1]) == nil)
    }

    @Test func `a rate is that of the last ten seconds, and each second of the last minute is kept`() {
        var history = StatusHistory()
        for second in 0...100 { history.add(sample(second, ended: second < 90 ? 0 : (second - 90) * 200)) }
        let rates = history.rates
        #expect(rates.seconds == 10)
        #expect(rates.ended == 200)
        #expect(rates.minted == 100)
        #expect(rates.endedBySecond.count == 60)
        #expect(rates.endedBySecond == Array(repeating: 0, count: 50) + Array(repeating: 200, count: 10))
        #expect(history.takenPerSecond(.live) == 200)
        #expect(history.takenPerSecond(.bulk) == 0)
    }

    @Test func `a sample that came late stands for each second that has passed`() {
        var history = StatusHistory()
        history.add(sample(0, ended: 0))
        history.add(sample(1, ended: 30))
        history.add(sample(5, ended: 130))
        history.add(sample(6, ended: 140))
        #expect(history.rates.endedBySecond == [30, 25, 25, 25, 25, 10])
        history.add(sample(1000, ended: 140))
        #expect(history.rates.endedBySecond == Array(repeating: 0, count: 60))
    }

    @Test func `latencies are those of the last minute alone`() throws {
        var history = StatusHistory()
        let bounds = [1.0, 2.0, 4.0]
        history.add(sample(0, ended: 0, latency: [50, 0, 0, 0]))
        history.add(sample(1, ended: 0, latency: [50, 0, 0, 0]))
        #expect(history.latency(.live, bounds: bounds) == nil, "nothing finished in it")
        history.add(sample(2, ended: 0, latency: [50, 100, 0, 0]))
        let latency = try #require(history.latency(.live, bounds: bounds))
        #expect(latency == .init(median: 1.5, p99: 1.99, count: 100))
    }

    /// As Prometheus' histogram_quantile has it.
    @Test(
        arguments: [
            ([10, 0, 0, 0], 0.5, 0.5), ([0, 10, 0, 0], 1, 2), ([5, 5, 0, 0], 0.5, 1), ([0, 0, 0, 7], 0.5, 4),
            ([9, 0, 0, 1], 0.99, 4), ([0, 0, 8, 0], 0.25, 2.5), ([], 0.5, 4),
        ] as [([Int], Double, Double)])
    func `a quantile is estimated within its bucket`(counts: [Int], share: Double, value: Double) {
        #expect(abs(StatusHistory.quantile(share, counts, [1, 2, 4]) - value) < 1e-9)
    }
}

@Suite("The recent counts")
struct RecentCountsTests {
    private let start = ContinuousClock.now

    private func series(_ app: String, _ outcome: String = "minted", _ code: String = "") -> RecentCounts.Series {
        .init(app: app, outcome: outcome, code: code)
    }

    @Test func `recent counts are unknown before the first snapshot and cover the time since it afterwards`() {
        var counts = RecentCounts()
        #expect(counts.recent([series("a"): 5], at: start) == StatusReport.Recent())
        counts.add([series("a"): 5], at: start)
        let recent = counts.recent([series("a"): 8], at: start + .seconds(3))
        #expect(recent.minute.seconds == 3 && recent.hour.seconds == 3)
        #expect(recent.minute.tally.ended == 3 && recent.minute.tally.minted == 3)
        #expect(recent.byMinute.ended == [3])
        #expect(recent.apps["a"]?.quarterHour.ended == 3)
    }

    @Test func `the last minute, quarter of an hour and hour each have their own events`() {
        var counts = RecentCounts()
        // One event a second.
        for second in 0...7200 where counts.isDue(at: start + .seconds(second)) {
            counts.add([series("a"): second], at: start + .seconds(second))
        }
        let recent = counts.recent([series("a"): 7205], at: start + .seconds(7205))
        for (window, length) in [(recent.minute, 60.0), (recent.quarterHour, 900), (recent.hour, 3600)] {
            #expect(window.seconds > length - 61 && window.seconds <= length, "\(window)")
            #expect(abs(Double(window.tally.ended) - window.seconds) < 0.001, "the rate is one a second")
        }
        #expect(recent.minute.seconds > 50)
        #expect(recent.byMinute.ended.count == RecentCounts.minutes)
        #expect(recent.byMinute.ended.dropLast().allSatisfy { $0 == 60 })
    }

    @Test func `a dead letter is recent for an hour and has its code`() {
        var counts = RecentCounts()
        let dead = series("a", "dead_lettered", "key_unavailable")
        for second in stride(from: 0, through: 7200, by: 10) {
            counts.add([dead: second < 30 ? 0 : 4], at: start + .seconds(second))
            let recent = counts.recent([dead: second < 30 ? 0 : 4], at: start + .seconds(second + 1))
            let isIn = (30..<3570).contains(second)
            if isIn { #expect(recent.deadLetters == ["key_unavailable": 4], "after \(second) s") }
            if second >= 3640 { #expect(recent.deadLetters.isEmpty && recent.apps.isEmpty, "after \(second) s") }
        }
    }

    /// The metrics give a removed app's counts to the app without a name.
    @Test func `the counts of a removed app do not look recent`() {
        var counts = RecentCounts()
        let dead = "dead_lettered"
        counts.add([series("a", dead, "x"): 100, series("b"): 7], at: start)
        let after = [series("", dead, "x"): 102, series("b"): 9]
        for _ in 0..<2 {
            let recent = counts.recent(after, at: start + .seconds(20))
            #expect(recent.deadLetters == ["x": 2])
            #expect(recent.apps[""]?.minute.deadLettered == 2)
            #expect(recent.apps["b"]?.minute.minted == 2)
            #expect(recent.byMinute.deadLettered == [2])
            counts.add([series("", dead, "x"): 100, series("b"): 7], at: start + .seconds(10))
        }
    }
}
