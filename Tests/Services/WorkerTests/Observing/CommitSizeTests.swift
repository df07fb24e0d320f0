import Testing

@testable import Worker

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
