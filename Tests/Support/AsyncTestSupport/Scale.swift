import Foundation

/// The scale of tests over seeded data.
package enum Scale {
    /// Whether the variable `REMINT_TEST_LONG` is 1, as `make test-long` sets it.
    package static let isLong = ProcessInfo.processInfo.environment["REMINT_TEST_LONG"] == "1"

    /// Returns `count` in a long run; otherwise a tenth of it, at least 1.
    package static func rounds(_ count: Int) -> Int { isLong ? count : max(1, count / 10) }
}
