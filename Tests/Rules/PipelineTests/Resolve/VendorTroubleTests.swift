import AdapterKit
import Testing

@testable import Pipeline

@Suite("Look-ups: a vendor in trouble") struct VendorTroubleTests {
    /// Lets time pass until there are calls, at most for `limit`.
    private func calls(_ bench: inout LookupBench, within limit: Duration = .seconds(120)) -> [LookupCall] {
        let end = bench.clock.now.advanced(byMicroseconds: limit.microseconds)
        while bench.clock.now < end {
            let calls = bench.processor.lookups()
            if !calls.isEmpty { return calls }
            guard let next = bench.processor.nextLookup else { return [] }
            bench.clock.now = max(next, bench.clock.now.advanced(byMicroseconds: 1))
        }
        return []
    }

    @Test func `a question is asked again after growing pauses, and then the event tries again later`() async throws {
        var bench = try LookupBench()
        let records = bench.records(["ann"])
        _ = await bench.process(records, .over)
        for _ in 0..<4 { bench.fail(try #require(calls(&bench).first), .unavailable) }
        #expect(bench.processor.lookups().isEmpty && bench.processor.nextLookup == nil)
        let progress = await bench.process(records, .resumed)
        #expect(progress.map(\.text) == ["deferred lookup_failed 0"])
        #expect(progress[0].settlement?.output?.values("remint-attempts") == ["1"])
        #expect(await bench.outcomes(records) == ["waits"], "the next attempt asks again")
    }

    @Test func `five failures in a row stop an account's requests for a while, then one request tries`() async throws {
        var bench = try LookupBench(batch: 1, concurrency: 10)
        let users = (0..<20).map { "user-\($0)" }
        _ = await bench.process(bench.records(users), .over)
        let first = bench.processor.lookups()
        #expect(first.count == 10)
        for call in first.prefix(5) { bench.fail(call, .unavailable) }
        #expect(bench.processor.takeLookupTally().notices == [.opened(account: "shop", detail: "it did not work")])
        #expect(bench.processor.lookupConditions.first?.circuit == "open")
        for call in first.dropFirst(5) { bench.fail(call, .unavailable) }
        #expect(bench.processor.lookups().isEmpty)
        // What comes meanwhile is no attempt.
        #expect(await bench.outcomes("late", waiting: .over) == ["deferred awaiting_lookup 0"])
        let before = bench.clock.now
        var probe = calls(&bench)
        #expect(probe.count == 1 && bench.clock.now.microseconds(since: before) >= 1_000_000)
        #expect(bench.processor.lookupConditions.first?.circuit == "half_open")
        #expect(bench.processor.lookups().isEmpty, "only one request tries")
        bench.fail(probe[0], .unavailable)
        let second = bench.clock.now
        probe = calls(&bench)
        #expect(probe.count == 1 && bench.clock.now.microseconds(since: second) >= 2_000_000, "twice as long")
        bench.confirm(probe[0])
        let notices = bench.processor.takeLookupTally().notices
        guard case .closed("shop", let length) = notices.first, notices.count == 1 else {
            Issue.record("\(notices)")
            return
        }
        #expect(length >= 3_000_000, "from the first failure, and two pauses")
        #expect(bench.processor.lookups().count == 10)
    }

    @Test func `the pauses of a circuit stay below half a minute`() async throws {
        var bench = try LookupBench(batch: 1)
        _ = await bench.process(bench.records((0..<200).map { "user-\($0)" }), .over)
        for _ in 0..<40 {
            let before = bench.clock.now
            for call in calls(&bench) { bench.fail(call, .unavailable) }
            #expect(bench.clock.now.microseconds(since: before) <= 30_000_000)
        }
    }

    @Test func `credentials that are refused open the circuit at once`() async throws {
        var bench = try LookupBench()
        let records = bench.records(["ann"])
        _ = await bench.process(records)
        bench.reply(try #require(calls(&bench).first), 401, "no")
        #expect(bench.processor.takeLookupTally().notices.count == 1)
        #expect(await bench.outcomes(records, .resumed) == ["deferred lookup_failed 0"])
        #expect(await bench.outcomes("ben") == ["deferred awaiting_lookup 0"], "the vendor is not asked yet")
    }

    @Test func `a user the vendor refuses to look up does not keep the others from being asked about`()
        async throws
    {
        var bench = try LookupBench()
        let users = (0..<50).map { $0 == 17 ? "bad" : "user-\($0)" }
        let records = bench.records(users)
        _ = await bench.process(records, .over)
        var asked = 0
        while true {
            let calls = calls(&bench)
            guard !calls.isEmpty else { break }
            asked += calls.count
            for call in calls {
                if call.users.contains("bad") { bench.reply(call, 400, "bad id") } else { bench.confirm(call) }
            }
        }
        #expect(asked <= 13)
        let notices = bench.processor.takeLookupTally().notices
        #expect(notices.count == 1 && notices.allSatisfy { if case .refused = $0 { true } else { false } })
        let ends = await bench.outcomes(records, .over)
        #expect(ends.count { $0 == "minted" } == 49 && ends[17] == "deferred lookup_failed 0")
    }

    @Test(arguments: [400, 413, 414, 422])
    func `a probe that the vendor calls faulty shows that the vendor works`(_ status: Int) async throws {
        var bench = try LookupBench(batch: 1, concurrency: 5)
        _ = await bench.process(bench.records((0..<20).map { "user-\($0)" }), .over)
        for call in bench.processor.lookups() { bench.fail(call, .unavailable) }
        let probe = calls(&bench)
        #expect(probe.count == 1 && bench.processor.lookupConditions.first?.circuit == "half_open")
        _ = bench.processor.takeLookupTally()
        bench.reply(try #require(probe.first), status, "no such id")
        #expect(bench.processor.lookupConditions.first?.circuit == "closed")
        let notices = bench.processor.takeLookupTally().notices
        guard notices.count == 2, case .closed("shop", _) = notices[0], case .refused = notices[1] else {
            Issue.record("\(notices)")
            return
        }
        for call in calls(&bench) { bench.confirm(call) }
        #expect(calls(&bench).count == 5, "the others are asked about")
    }

    @Test func `the halves of a request that tried are asked about`() async throws {
        var bench = try LookupBench()
        _ = await bench.process(bench.records(["ann"]))
        bench.reply(try #require(calls(&bench).first), 401, "no")
        let records = bench.records(["bad", "ben", "bob", "bee"])
        _ = await bench.process(records, .over)
        let probe = calls(&bench)
        #expect(probe.map(\.users.count) == [4])
        bench.reply(try #require(probe.first), 400, "bad id")
        while case let halves = calls(&bench), !halves.isEmpty {
            for call in halves {
                if call.users.contains("bad") { bench.reply(call, 400, "bad id") } else { bench.confirm(call) }
            }
        }
        #expect(
            await bench.outcomes(records, .over) == ["deferred lookup_failed 0"] + Array(repeating: "minted", count: 3))
    }

    @Test func `a vendor is not asked before its stated time to come back`() async throws {
        var bench = try LookupBench(batch: 1)
        _ = await bench.process(bench.records(["a", "b"]), .over)
        let first = calls(&bench)
        bench.reply(first[0], 429, retryAfter: 17_000_000)
        let before = bench.clock.now
        bench.confirm(first[1])
        let next = calls(&bench)
        #expect(next.map(\.users) == [["a"]])
        #expect(bench.clock.now.microseconds(since: before) >= 17_000_000)
        #expect(bench.processor.lookupConditions.first?.circuit == "closed")
    }

    @Test func `a vendor that asks for an hour's pause is asked again in five minutes`() async throws {
        var bench = try LookupBench(batch: 1)
        _ = await bench.process(bench.records(["a"]), .over)
        bench.reply(try #require(calls(&bench).first), 429, retryAfter: 3_600_000_000)
        let before = bench.clock.now
        let next = calls(&bench, within: .seconds(3700))
        #expect(next.map(\.users) == [["a"]])
        let rest = bench.clock.now.microseconds(since: before)
        #expect((300_000_000...301_000_000).contains(rest), "\(rest)")
    }

    @Test func `a vendor that throttles without naming a time is asked less and less`() async throws {
        var bench = try LookupBench(batch: 1, concurrency: 1)
        _ = await bench.process(bench.records(["a"]), .over)
        var total: Int64 = 0
        for _ in 0..<8 {
            let call = try #require(calls(&bench).first)
            let before = bench.clock.now
            bench.reply(call, 429)
            _ = bench.processor.lookups()
            let next = try #require(bench.processor.nextLookup)
            #expect(next.microseconds(since: before) >= 1_000_000)
            total += next.microseconds(since: before)
        }
        #expect(total > 12_000_000)
        bench.confirm(try #require(calls(&bench).first))
        #expect(await bench.outcomes("a") == ["minted"])
    }

    @Test func `an answer about somebody else is refused and reported, and the event tries again`() async throws {
        var bench = try LookupBench()
        let records = bench.records(["ann"])
        _ = await bench.process(records)
        bench.reply(try #require(calls(&bench).first), 200, #"{"exists":["other"]}"#)
        #expect(bench.processor.takeLookupTally().notices == [.mismatched(account: "shop", detail: "another user")])
        #expect(await bench.outcomes(records, .resumed) == ["deferred lookup_failed 0"])
        #expect(bench.processor.lookupConditions.first?.circuit == "closed")
    }

    @Test func `a vendor that is down for a minute costs no event`() async throws {
        var bench = try LookupBench(batch: 1)
        var waiting = bench.records((0..<100).map { "user-\($0)" }).map { (due: bench.clock.now, record: $0) }
        let up = bench.clock.now.advanced(bySeconds: 60)
        var minted = 0
        for _ in 0..<20_000 where !waiting.isEmpty {
            for call in bench.processor.lookups() {
                if bench.clock.now < up { bench.fail(call, .unavailable) } else { bench.confirm(call) }
            }
            let due = waiting.filter { $0.due <= bench.clock.now }
            waiting.removeAll { $0.due <= bench.clock.now }
            for (event, progress) in zip(due, await bench.process(due.map(\.record), .over)) {
                switch progress.settlement?.outcome {
                case .minted: minted += 1
                case .deferred:
                    let output = try #require(progress.settlement?.output)
                    let moment = try #require(output.values("remint-not-before").last ?? nil)
                    waiting.append(
                        (
                            UnixTime(milliseconds: try #require(Int64(moment))),
                            try output.fromTier(at: bench.clock.now)
                        ))
                default: Issue.record("\(event.record.origin) ends as \(progress.text)")
                }
            }
            bench.pass(.milliseconds(100))
        }
        #expect(minted == 100 && waiting.isEmpty)
        #expect(bench.clock.now.microseconds(since: up) < 700_000_000)
    }
}
