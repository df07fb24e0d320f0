import AsyncTestSupport
import Pipeline
import Testing

/// The waiting events, and the share of each lane in the next batch.
struct Sharing: CustomTestStringConvertible, Sendable {
    let testDescription: String
    var share = 0.1
    /// Seconds for an event.
    var pace = 0.000001
    var batch = 1000
    let waiting: [Lane: Int]
    let taken: [Lane: Int]
}

@Suite("The lanes' shares of a batch")
struct LaneSharesTests {
    /// A batch of 1000 takes 10 ms here: less than the 20 ms a live event may be kept waiting.
    static let fast: [Sharing] = [
        Sharing(testDescription: "nothing", waiting: [:], taken: [:]),
        Sharing(testDescription: "live alone", waiting: [.live: 5000], taken: [.live: 1000]),
        Sharing(
            testDescription: "a little of each", waiting: [.live: 1, .retries: 2, .bulk: 3],
            taken: [
                .live: 1, .retries: 2, .bulk: 3,
            ]),
        Sharing(testDescription: "bulk alone", waiting: [.bulk: 5000], taken: [.bulk: 1000]),
        Sharing(testDescription: "retries alone", waiting: [.retries: 5000], taken: [.retries: 1000]),
        Sharing(
            testDescription: "bulk beside as much live as there may be", waiting: [.live: 5000, .bulk: 5000],
            taken: [
                .live: 900, .bulk: 100,
            ]),
        Sharing(
            testDescription: "all of them", waiting: [.live: 5000, .retries: 5000, .bulk: 5000],
            taken: [.live: 800, .retries: 100, .bulk: 100]),
        Sharing(
            testDescription: "what live leaves goes to retries first, and bulk has its share",
            waiting: [.live: 300, .retries: 5000, .bulk: 5000], taken: [.live: 300, .retries: 600, .bulk: 100]),
        Sharing(
            testDescription: "what retries leave goes to bulk", waiting: [.live: 300, .retries: 50, .bulk: 5000],
            taken: [.live: 300, .retries: 50, .bulk: 650]),
        Sharing(
            testDescription: "retries do not keep bulk from its share", waiting: [.retries: 5000, .bulk: 5000],
            taken: [.retries: 900, .bulk: 100]),
        Sharing(
            testDescription: "a little bulk leaves the rest to others", waiting: [.retries: 5000, .bulk: 7],
            taken: [.retries: 993, .bulk: 7]),
        Sharing(
            testDescription: "no share", share: 0, waiting: [.live: 999, .retries: 50, .bulk: 5000],
            taken: [.live: 999, .retries: 1]),
        Sharing(
            testDescription: "half", share: 0.5, waiting: [.live: 5000, .bulk: 5000], taken: [.live: 500, .bulk: 500]),
        Sharing(
            testDescription: "half, with retries: live is not starved", share: 0.5,
            waiting: [.live: 5000, .retries: 5000, .bulk: 5000], taken: [.live: 250, .retries: 250, .bulk: 500]),
        Sharing(
            testDescription: "the smallest batch still brings each lane on", batch: 1,
            waiting: [.live: 9, .retries: 9, .bulk: 9], taken: [.live: 1, .retries: 1, .bulk: 1]),
    ]

    /// An event takes a millisecond: 10 of them while a live event may wait, one with some, 200 behind a burst of live ones.
    static let slow: [Sharing] = [
        Sharing(testDescription: "bulk alone", pace: 0.001, waiting: [.bulk: 5000], taken: [.bulk: 10]),
        Sharing(testDescription: "live alone", pace: 0.001, waiting: [.live: 5000], taken: [.live: 200]),
        Sharing(
            testDescription: "live with bulk", pace: 0.001, waiting: [.live: 5000, .bulk: 5000],
            taken: [.live: 180, .bulk: 20]),
        Sharing(
            testDescription: "a few live events", pace: 0.001, waiting: [.live: 2, .bulk: 5000],
            taken: [.live: 2, .bulk: 1]),
        Sharing(
            testDescription: "a few live events that are faster", pace: 0.0001, waiting: [.live: 2, .bulk: 5000],
            taken: [.live: 2, .bulk: 8]),
        Sharing(
            testDescription: "as many live events as it may be filled with", pace: 0.0001,
            waiting: [.live: 10, .bulk: 5000], taken: [.live: 10, .bulk: 2]),
        Sharing(
            testDescription: "events that take a second", pace: 1, waiting: [.live: 50, .bulk: 50],
            taken: [.live: 1, .bulk: 1]),
        Sharing(testDescription: "bulk alone that takes a second", pace: 1, waiting: [.bulk: 50], taken: [.bulk: 1]),
    ]

    @Test(arguments: fast + slow)
    func `live events come first, and the other lanes get at least their share`(_ sharing: Sharing) {
        let shares = LaneShares(batchEvents: sharing.batch, bulkShare: sharing.share)
        let next = shares.next(of: PerLane { lane in sharing.waiting[lane] ?? 0 }, pace: sharing.pace)
        for lane in Lane.allCases { #expect(next[lane] == sharing.taken[lane] ?? 0, "\(lane)") }
    }

    @Test func `a batch is never too large, gives each lane its share, and is never empty while events wait`() {
        var generator = SeededGenerator(seed: 5)
        for _ in 0..<Scale.rounds(20_000) {
            let batch = Int.random(in: 1...300, using: &generator)
            let share = [0, 0.01, 0.1, 0.3, 0.5][Int.random(in: 0..<5, using: &generator)]
            let pace = [0, 0.00001, 0.001, 0.1, 1e300][Int.random(in: 0..<5, using: &generator)]
            let waiting = PerLane { _ in
                Bool.random(using: &generator) ? 0 : Int.random(in: 0...600, using: &generator)
            }
            let next = LaneShares(batchEvents: batch, bulkShare: share).next(of: waiting, pace: pace)
            let sum = Lane.allCases.reduce(0) { $0 + next[$1] }
            let isFine =
                Lane.allCases.allSatisfy { 0...waiting[$0] ~= next[$0] } && sum <= batch + 2
                && (sum > 0 || Lane.allCases.allSatisfy { waiting[$0] == 0 })
                && (next[.live] > 0 || waiting[.live] == 0)
                && (next[.bulk] == waiting[.bulk] || Double(next[.bulk]) >= Double(sum - 2) * share)
            guard !isFine else { continue }
            Issue.record("\(batch) \(share) \(pace): \(next) of \(waiting)")
            return
        }
    }

    @Test func `a share is from nothing to a half, a batch at least one event`() {
        #expect(LaneShares(batchEvents: 0, bulkShare: -1) == LaneShares(batchEvents: 1, bulkShare: 0))
        #expect(LaneShares(batchEvents: -9, bulkShare: 7) == LaneShares(batchEvents: 1, bulkShare: 0.5))
    }
}

@Suite("The pace of events")
struct PaceTests {
    @Test func `the pace follows the batches, the larger ones more`() {
        var pace = Pace()
        #expect(pace.secondsPerEvent == 0.0001)
        var other = pace
        for _ in 0..<7 { pace.learn(events: 10, seconds: 0.01) }
        for _ in 0..<7 { other.learn(events: 100, seconds: 0.1) }
        #expect(pace.secondsPerEvent < 0.0004)
        #expect(other.secondsPerEvent > 0.0007)
        for _ in 0..<300 { pace.learn(events: 10, seconds: 0.01) }
        #expect(abs(pace.secondsPerEvent - 0.001) < 0.000001)
    }

    @Test(arguments: [(0, 1.0), (-1, 1), (1, 0), (1, -1), (1, .infinity), (1, .nan)])
    func `the pace ignores a batch without events or time`(_ events: Int, _ seconds: Double) {
        var pace = Pace()
        pace.learn(events: events, seconds: seconds)
        #expect(pace == Pace())
    }
}
