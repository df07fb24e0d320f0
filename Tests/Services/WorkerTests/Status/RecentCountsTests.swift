import Testing

@testable import Worker

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
