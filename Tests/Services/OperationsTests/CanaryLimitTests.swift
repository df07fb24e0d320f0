import Foundation
import Operations
import Testing

/// Tests of the number of rejections that a canary may have.
@Suite struct CanaryLimitTests {
    /// Rejected, of how many, and whether 1 in 100 is exceeded.
    private static let verdicts: [(Int, Int, Bool)] = [
        (0, 1, false), (1, 1, true), (0, 100, false), (1, 100, false), (2, 100, false), (3, 100, false), (4, 100, true),
        (20, 100, true), (100, 100, true), (1, 1000, false), (10, 1000, false), (30, 1000, true), (1, 5, true),
        (1, 6, false), (1, 20, false), (2, 20, true),
        (10_000, 1_000_000, false), (10_200, 1_000_000, true), (1_000_000, 1_000_000, true),
    ]

    @Test(arguments: verdicts) func `a share is exceeded where the sample shows so`(
        _ rejected: Int, _ total: Int, _ isExceeded: Bool
    ) {
        #expect(RejectionLimit.standard.isExceeded(by: rejected, of: total) == isExceeded)
    }

    @Test func `three hostile accounts among 10000 users stop nothing`() {
        // 1 percent of 10,000 is a canary of 100, and all three are in it.
        #expect(!RejectionLimit.standard.isExceeded(by: 3, of: 100))
    }

    /// Against the beta distribution's quantiles (R: qbeta(0.05, count, total - count + 1)).
    @Test(arguments: [(1, 1, 0.05), (1, 100, 0.000_512_8), (3, 100, 0.008_226), (20, 100, 0.136_7), (5, 10, 0.222_4)])
    func `the lower bound is Clopper's and Pearson's`(_ count: Int, _ total: Int, _ bound: Double) {
        #expect(abs(ConfidenceBound.lower(count, of: total) - bound) < 0.000_1)
    }

    @Test func `a limit is a share or a number`() {
        #expect(RejectionLimit("2%") == .share(0.02) && RejectionLimit("0.5%") == .share(0.005))
        #expect(RejectionLimit("3") == .count(3) && RejectionLimit("0") == .count(0))
        for text in ["", "%", "-1", "101%", "1.5", "nan%", "three"] { #expect(RejectionLimit(text) == nil, "\(text)") }
        #expect(!RejectionLimit.count(3).isExceeded(by: 3, of: 3) && RejectionLimit.count(3).isExceeded(by: 4, of: 9))
        #expect(
            RejectionLimit.share(0).isExceeded(by: 1, of: 1000) && !RejectionLimit.share(1).isExceeded(by: 9, of: 9))
    }
}
