import AdapterKit
import Testing

@testable import Pipeline

@Suite("The retry policy")
struct RetryPolicyTests {
    private static let now = UnixTime(seconds: 1_763_640_000)

    @Test(arguments: [(0, 0), (1, 0), (2, 1), (3, 2), (4, 2), (7, 2), (8, nil), (9, nil), (1_000_000, nil)])
    func `each attempt waits in the next tier, the last ones in the longest`(_ attempts: Int, _ tier: Int?) {
        var random = SeededGenerator(seed: 1)
        let wait = RetryPolicy.standard.wait(
            afterAttempt: attempts, firstFailure: Self.now, now: Self.now, random: &random)
        #expect(wait?.tier == tier)
    }

    @Test(arguments: [(Int?.none, 0), (0, 1), (1, 2), (2, 2), (99, 2)])
    func `a suspended app's events wait in the next tier each time, until their deadline`(_ from: Int?, _ tier: Int) {
        var random = SeededGenerator(seed: 1)
        let policy = RetryPolicy.standard
        let wait = policy.wait(suspendedFrom: from, firstFailure: Self.now, now: Self.now, random: &random)
        #expect(wait?.tier == tier)
        let late = Self.now.advanced(bySeconds: 86_400)
        #expect(policy.wait(suspendedFrom: from, firstFailure: Self.now, now: late, random: &random) == nil)
    }

    @Test func `a retry is never early, and at most 501 ms after its tier's delay`() {
        var random = SeededGenerator(seed: 1)
        var waits: [Int64] = []
        for offset: Int64 in 0..<2000 {
            let now = UnixTime(microseconds: Self.now.microseconds + offset * 7)
            for attempt in 1...3 {
                let wait = RetryPolicy.standard.wait(
                    afterAttempt: attempt, firstFailure: now, now: now, random: &random)
                let delay: Int64 = [10, 60, 600][attempt - 1]
                waits.append((wait?.notBefore.microseconds(since: now) ?? 0) - delay * 1_000_000)
            }
        }
        #expect(waits.allSatisfy { (0...501_000).contains($0) })
        // It is spread over all of it.
        #expect((waits.min() ?? 0) < 5000 && (waits.max() ?? 0) > 495_000)
    }

    @Test(arguments: [(0, true), (86_389, true), (86_391, false), (1_000_000, false), (-1_000_000, true)])
    func `nothing waits past its deadline`(_ age: Int64, _ waits: Bool) {
        var random = SeededGenerator(seed: 1)
        let wait = RetryPolicy.standard.wait(
            afterAttempt: 1, firstFailure: Self.now.advanced(bySeconds: -age), now: Self.now, random: &random)
        #expect((wait != nil) == waits)
    }

    @Test func `an event does not wait if there are no tiers or attempts`() {
        var random = SeededGenerator(seed: 1)
        let bare = RetryPolicy(tiers: [], maxAttempts: 8, deadline: .seconds(86_400))
        #expect(bare.wait(afterAttempt: 1, firstFailure: Self.now, now: Self.now, random: &random) == nil)
        #expect(bare.wait(suspendedFrom: nil, firstFailure: Self.now, now: Self.now, random: &random) == nil)
        let single = RetryPolicy(tiers: [.init(name: "1s", delay: .seconds(1))], maxAttempts: 0, deadline: .seconds(9))
        #expect(single.maxAttempts == 1)
        #expect(single.wait(afterAttempt: 1, firstFailure: Self.now, now: Self.now, random: &random) == nil)
        #expect(single.wait(suspendedFrom: 0, firstFailure: Self.now, now: Self.now, random: &random)?.tier == 0)
    }

    @Test func `codes of passing faults are retriable, and codes of faulty events are not`() {
        let retriable = ErrorCode.allCases.filter(\.isRetriable)
        #expect(retriable == [.lookupFailed, .keyUnavailable, .mintFailed])
    }

    // MARK: When a record of a tier may be taken

    /// A record of tier `10s`, written at `now`.
    private static func record(
        notBefore: String?, written: UnixTime? = now, tier: Int? = 0
    ) -> InputRecord {
        InputRecord(
            origin: RecordPosition(topic: "remint.retries.10s", partition: 0, offset: 1), timestamp: written, key: nil,
            value: nil,
            headers: notBefore.map { [RecordHeader("remint-not-before", $0)] } ?? [], lane: .retries, tier: tier)
    }

    /// The header's value, in milliseconds after it was written, and the time until the event is due, in seconds.
    static let moments: [(header: String?, seconds: Int64)] = [
        ("1763640010000", 10), ("1763640000001", 0), ("0", -1), ("-9223372036854775808", -1), (nil, 10), ("soon", 10),
        ("", 10), ("1763640014999", 14), ("1763640015000", 15), ("1763640015001", 15), ("1764000000000", 15),
        ("9223372036854775807", 15), ("99999999999999999999", 10),
    ]

    @Test(arguments: moments)
    func `a record waits as its worker wrote, but not much longer than its tier`(_ header: String?, _ seconds: Int64) {
        let due = RetryPolicy.standard.dueTime(of: Self.record(notBefore: header), takenAt: Self.now)
        #expect(max(-1, due.seconds - Self.now.seconds) == seconds)
    }

    @Test func `a record from the future waits no longer than one of now`() {
        for written in [Self.now.advanced(bySeconds: 86_400), UnixTime(microseconds: .max)] {
            let due = RetryPolicy.standard.dueTime(
                of: Self.record(notBefore: "9223372036854775807", written: written), takenAt: Self.now)
            #expect(due == Self.now.advanced(bySeconds: 15))
        }
    }

    @Test func `a record of no tier or no time is due at once`() {
        for record in [
            Self.record(notBefore: "9223372036854775807", tier: nil),
            Self.record(notBefore: "9223372036854775807", tier: 9), Self.record(notBefore: nil, written: nil),
        ] { #expect(RetryPolicy.standard.dueTime(of: record, takenAt: Self.now) < Self.now) }
    }
}
