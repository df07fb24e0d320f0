import Pipeline
import Testing

@testable import Worker

/// The reaction of sessions to a quota of the brokers.
@Suite struct BrokerQuotaTests {
    private let start = ContinuousClock.now

    @Test func `a throttle is reported at its beginning, and a minute after its end`() {
        let quota = BrokerQuota()
        #expect(quota.look(at: start) == BrokerQuota.Look(isThrottled: false, isNew: false))
        quota.note(.milliseconds(300), at: start)
        #expect(quota.look(at: start) == BrokerQuota.Look(isThrottled: true, isNew: true))
        quota.note(.zero, at: start + .seconds(59))
        #expect(quota.look(at: start + .seconds(59)) == BrokerQuota.Look(isThrottled: true, isNew: false))
        #expect(quota.look(at: start + .seconds(60)) == BrokerQuota.Look(isThrottled: false, isNew: true))
    }

    @Test
    func `a commit that outlived its timeout under a throttle was fenced by the brokers, and any other by a worker`() {
        let quota = BrokerQuota()
        #expect(!quota.isOverdue(.seconds(9), .seconds(4), at: start), "nothing made it wait")
        quota.note(.seconds(2), at: start)
        #expect(quota.isOverdue(.seconds(4), .seconds(4), at: start))
        #expect(!quota.isOverdue(.milliseconds(3999), .seconds(4), at: start), "another worker took the id")
        #expect(!quota.isOverdue(.seconds(9), .seconds(4), at: start + BrokerQuota.memory))
    }

    @Test func `the timeout of a call grows with the longest throttle, up to a bound`() {
        let (quota, limit) = (BrokerQuota(), Duration.seconds(20))
        #expect(quota.stretched(limit, at: start) == limit)
        quota.note(.seconds(6), at: start)
        quota.note(.seconds(1), at: start + .seconds(1))
        #expect(quota.stretched(limit, at: start + .seconds(1)) == .seconds(32))
        quota.note(.seconds(30), at: start + .seconds(2))
        #expect(quota.stretched(limit, at: start + .seconds(2)) == BrokerQuota.longestCall)
        #expect(quota.stretched(.seconds(60), at: start + .seconds(2)) == .seconds(60), "no timeout gets shorter")
        #expect(BrokerQuota.longestCall * 2 < SessionProgress.end)
        quota.note(.seconds(2), at: start + .seconds(90))
        #expect(quota.stretched(limit, at: start + .seconds(90)) == .seconds(24), "the longest one is over")
        #expect(quota.stretched(limit, at: start + .seconds(150)) == limit)
    }

    @Test func `the size of commits is learned only under a throttle`() {
        let quota = BrokerQuota()
        #expect(!quota.ended(in: .seconds(4), isCommitted: false, of: 4000, at: start))
        quota.note(.seconds(2), at: start)
        #expect(quota.ended(in: .seconds(4), isCommitted: false, of: 4000, at: start))
        #expect(quota.limit == 500)
        #expect(!quota.ended(in: .milliseconds(500), isCommitted: true, of: 4000, at: start))
    }
}

/// The size of commits under a quota of the brokers.
@Suite struct CommitSizeTests {
    private func size(_ commits: [(seconds: Double, isCommitted: Bool)], isThrottled: Bool = true) -> Int? {
        var size = CommitSize()
        for commit in commits {
            size.ended(
                in: commit.seconds, isCommitted: commit.isCommitted, of: 4000, isThrottled: isThrottled)
        }
        return size.limit
    }

    @Test func `a commit that is slow because of a quota halves the next ones`() {
        #expect(size([(1.1, true)]) == 2000)
        #expect(size([(1.1, true), (3, true)]) == 1000)
    }

    @Test func `a commit that failed for the time it took makes the next ones far smaller`() {
        #expect(size([(4, false)]) == 500)
        #expect(size(Array(repeating: (4, false), count: 9)) == 2, "one event at a time is the least")
    }

    @Test func `a slow commit without a quota has another reason`() {
        #expect(size([(10, true), (10, false)], isThrottled: false) == nil)
    }

    @Test func `a commit that failed at once has another reason`() { #expect(size([(0.1, false)]) == nil) }

    @Test func `quick commits grow until there is no limit`() {
        let slow = [(seconds: 4.0, isCommitted: false)], quick = (seconds: 0.2, isCommitted: true)
        #expect(size(slow + [quick]) == 1000)
        #expect(size(slow + [(0.5, true)]) == 500, "it fits")
        #expect(size(slow + Array(repeating: quick, count: 3)) == 4000)
        #expect(size(slow + Array(repeating: quick, count: 4)) == nil)
    }
}
