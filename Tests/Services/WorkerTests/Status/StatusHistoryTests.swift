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
