import AdapterKit
import AsyncTestSupport
import Testing

@testable import Pipeline

@Suite("Look-ups: the vendor's limits") struct RequestLimiterTests {
    /// The most arrivals in any time of that length.
    private func most(_ arrivals: [UnixTime], in seconds: Int) -> Int {
        let sorted = arrivals.sorted()
        var most = 0
        var start = 0
        for end in sorted.indices {
            while sorted[end].microseconds(since: sorted[start]) >= Int64(seconds) * 1_000_000 { start += 1 }
            most = max(most, end - start + 1)
        }
        return most
    }

    @Test(arguments: [1, 2, 3, 4, 5])
    func `no window of the vendor's sees more than its limit, whenever a request arrives`(_ seed: UInt64) {
        let rates = [LookupTerms.Rate(5), LookupTerms.Rate(40, perSeconds: 20)]
        var random = SeededGenerator(seed: seed)
        var limiter = RequestLimiter(
            LookupAccount(name: "a", rates: rates, batch: 1, concurrency: 3))
        var now = TestBench.now
        var flying: [(begun: UnixTime, ends: UnixTime)] = []
        var arrivals: [UnixTime] = []
        for _ in 0..<Scale.rounds(200_000) {
            for flight in flying where flight.ends <= now {
                limiter.end(at: now)
                // Anywhere between its beginning and the moment we know of its end.
                arrivals.append(
                    flight.begun.advanced(
                        byMicroseconds: .random(in: 0...now.microseconds(since: flight.begun), using: &random)))
            }
            flying.removeAll { $0.ends <= now }
            if limiter.opening(at: now) == .now {
                limiter.begin()
                let length = Int64.random(in: 1000...400_000, using: &random)
                flying.append((now, now.advanced(byMicroseconds: length)))
            }
            #expect(flying.count <= 3)
            now = now.advanced(byMicroseconds: .random(in: 0...5000, using: &random))
        }
        #expect(most(arrivals, in: 1) <= 5)
        #expect(most(arrivals, in: 20) <= 40)
        // And it is used: 500 seconds are 25 times the longer window, and a tenth of them has its share.
        #expect(arrivals.count > Scale.rounds(800))
    }

    @Test func `a clock that is set back shuts nobody out`() {
        var limiter = RequestLimiter(LookupAccount(name: "a", rates: [.init(1)], batch: 1, concurrency: 1))
        limiter.begin()
        limiter.end(at: TestBench.now.advanced(bySeconds: 3600))
        limiter.begin()
        limiter.end(at: TestBench.now)
        #expect(limiter.opening(at: TestBench.now.advanced(bySeconds: 1)) == .now)
    }

    @Test(arguments: [3600, 86_400, Int64.max / 1_000_000] as [Int64])
    func `a vendor's wish keeps its account from being asked for five minutes at most`(_ seconds: Int64) {
        var limiter = RequestLimiter(LookupAccount(name: "a", rates: [.init(10)], batch: 1, concurrency: 1))
        limiter.pause(for: seconds * 1_000_000, at: TestBench.now)
        let end = TestBench.now.advanced(bySeconds: 300)
        #expect(limiter.opening(at: TestBench.now) == .at(end))
        #expect(limiter.moment(forRequests: 1, at: TestBench.now) == end)
        #expect(limiter.opening(at: end) == .now)
    }

    @Test func `a shorter word does not cut a longer one short, and a clock that is set back does not stretch it`() {
        var limiter = RequestLimiter(LookupAccount(name: "a", rates: [.init(10)], batch: 1, concurrency: 1))
        limiter.pause(for: 60_000_000, at: TestBench.now)
        limiter.pause(for: 1_000_000, at: TestBench.now)
        #expect(limiter.opening(at: TestBench.now) == .at(TestBench.now.advanced(bySeconds: 60)))
        let before = TestBench.now.advanced(bySeconds: -3600)
        limiter.pause(for: 1_000_000, at: before)
        #expect(limiter.opening(at: before.advanced(bySeconds: 301)) == .now)
    }

    @Test func `ten thousand users in batches of fifty are two hundred requests, within both windows`()
        async throws
    {
        var bench = try LookupBench(rates: [.init(250, perSeconds: 60), .init(40)])
        var arrivals: [UnixTime] = []
        var flying: [(call: LookupCall, ends: UnixTime)] = []
        var sent = 0
        // They come in small batches, as a worker takes them, with hiccups.
        var left = (0..<10_000).map { "user-\($0)" }[...]
        for round in 0..<4000 {
            if !left.isEmpty, round % 50 != 0 {
                _ = await bench.process(bench.records(Array(left.prefix(16))), .over)
                left = left.dropFirst(16)
            }
            for call in bench.processor.lookups() {
                sent += 1
                #expect(call.users.count <= 50)
                arrivals.append(bench.clock.now)
                flying.append((call, bench.clock.now.advanced(byMicroseconds: 80_000)))
            }
            for flight in flying where flight.ends <= bench.clock.now { bench.confirm(flight.call) }
            flying.removeAll { $0.ends <= bench.clock.now }
            bench.pass(.milliseconds(round % 50 == 0 ? 120 : 5))
        }
        #expect(sent == 200)
        #expect(most(arrivals, in: 1) <= 40 && most(arrivals, in: 60) <= 250)
        #expect(await bench.outcomes("user-0", "user-9999") == ["minted", "minted"])
    }
}

@Suite("Look-ups: a vendor that refuses every request for its rate") struct ThrottlingTests {
    @Test func `refusals are reported once after five seconds, and their end with its length`() {
        var throttling = Throttling()
        let reported = [100, 101, 104, 105, 106].map { (second: Int64) in
            throttling.refused(at: UnixTime(seconds: second))
        }
        #expect(reported == [false, false, false, true, false])
        #expect(throttling.isLong)
        let length = throttling.ended(at: UnixTime(seconds: 130))
        #expect(length == 30_000_000)
        #expect(!throttling.isLong)
    }

    @Test func `a refusal between answers is no trouble`() {
        var throttling = Throttling()
        for second in stride(from: Int64(0), to: 60, by: 4) {
            let isReported = throttling.refused(at: UnixTime(seconds: second))
            let length = throttling.ended(at: UnixTime(seconds: second + 1))
            #expect(!isReported && length == nil)
        }
    }
}
