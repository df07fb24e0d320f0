import Foundation

/// The confidence in a share of a sample: the lower bound of Clopper and Pearson (1934), one-sided, exact for samples of any size.
///
/// 3 of 100 do not show that more than 1 in 100 of all users would have the same result; 4 of 100 do, at 95 %.
package enum ConfidenceBound {
    /// The probability of a misleading sample.
    package static let error = 0.05

    /// Returns whether `count` of `total` show that the share of all users is above `share`.
    package static func shows(_ count: Int, of total: Int, above share: Double) -> Bool {
        guard count > 0, total > 0, share < 1 else { return false }
        guard share > 0 else { return true }
        return atLeast(min(count, total), of: total, share) < error
    }

    /// Returns the largest share that `count` of `total` show to be exceeded.
    package static func lower(_ count: Int, of total: Int) -> Double {
        guard count > 0, total > 0 else { return 0 }
        var (low, high) = (0.0, 1.0)
        for _ in 0..<40 {
            let middle = (low + high) / 2
            if shows(count, of: total, above: middle) { low = middle } else { high = middle }
        }
        return low
    }

    /// Returns the probability of `count` or more hits in `total` trials, each a hit with the probability `share`.
    private static func atLeast(_ count: Int, of total: Int, _ share: Double) -> Double {
        let odds = log(share) - log1p(-share)
        var term = Double(total) * log1p(-share)
        var below = exp(term)
        for number in 1..<max(1, count) {
            term += log(Double(total - number + 1)) - log(Double(number)) + odds
            below += exp(term)
        }
        return max(0, 1 - below)
    }
}

/// The limit on rejections of a canary's tokens by the vendor.
package enum RejectionLimit: Sendable, Equatable {
    /// A share, judged with the confidence that the size of the canary allows.
    case share(Double)
    /// A number of users, whatever the size of the canary.
    case count(Int)

    /// 1 in 100.
    package static let standard = RejectionLimit.share(0.01)

    /// Reads `2%`, `0.5%` or `3`; nil for anything else.
    package init?(_ text: String) {
        if text.hasSuffix("%") {
            guard let percent = Double(text.dropLast()), (0...100).contains(percent) else { return nil }
            self = .share(percent / 100)
        } else {
            guard let count = Int(text), count >= 0 else { return nil }
            self = .count(count)
        }
    }

    /// Returns whether `rejected` of `total` are too many.
    package func isExceeded(by rejected: Int, of total: Int) -> Bool {
        switch self {
        case .share(let share): ConfidenceBound.shows(rejected, of: total, above: share)
        case .count(let count): rejected > count
        }
    }
}
