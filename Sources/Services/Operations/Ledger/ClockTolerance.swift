package import AdapterKit

/// The bound on how far an operator's clock may be ahead of the workers'.
///
/// The operator's clock decides whether a token lives. A clock that is ahead would count tokens as expired that devices
/// still use, so campaigns count a token for this long after its end. A clock that is behind counts tokens for too long
/// by itself. A canary needs tokens that live for certain, so there the clock counts as behind by as much.
package struct ClockTolerance: Sendable, Equatable {
    /// A quarter of an hour.
    package static let standard = ClockTolerance(seconds: 900)

    /// The bound, in seconds.
    package let seconds: Int64

    /// A bound of `seconds`, at least 0.
    package init(seconds: Int64) { self.seconds = max(0, seconds) }

    /// Returns the earliest time that it may be where a clock shows `now`.
    package func earliest(at now: UnixTime) -> UnixTime { now.advanced(bySeconds: -seconds) }
}
