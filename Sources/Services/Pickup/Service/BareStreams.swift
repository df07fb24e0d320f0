import AdapterKit

/// The schedule of asks for connected devices without a live token: their stream's own ask failed, or their token
/// expired while nothing could be minted. A value without a clock.
///
/// While nothing can be asked for, nothing is planned. Once it can, the asks are spread, so that the devices of a
/// whole outage do not ask together.
struct BareStreams: Sendable {
    /// The plan for one subject.
    private struct Plan {
        /// The time of the next ask, in microseconds since 1970.
        var due: Int64
        var tries = 0
    }

    /// The time that a stream's own ask has, and the shortest time over which asks are spread, in microseconds.
    private static let start: Int64 = 2_000_000
    /// The shortest and the longest pause between two asks, in microseconds. Up to twice as long is waited.
    private static let pauses: ClosedRange<Int64> = 5_000_000...30_000_000

    private var plans: [[UInt8]: Plan] = [:]

    /// Returns the subjects of `bare` to ask for at `now`. Subjects that are not in `bare` are forgotten.
    ///
    /// - Parameters:
    ///   - isHeld: whether nothing can be asked for.
    ///   - rate: the number of subjects that begin to be asked for in a second.
    mutating func due(
        _ bare: [[UInt8]], at now: UnixTime, isHeld: Bool, rate: Int, using random: inout some RandomNumberGenerator
    ) -> [[UInt8]] {
        guard !isHeld, !bare.isEmpty else {
            plans = [:]
            return []
        }
        let fresh = bare.count { plans[$0] == nil }
        let span = max(Self.start, Int64(fresh) * 1_000_000 / Int64(max(1, rate)))
        var next: [[UInt8]: Plan] = [:]
        var due: [[UInt8]] = []
        for key in bare {
            var plan =
                plans[key]
                ?? Plan(due: now.microseconds + Self.start + Int64.random(in: 0...span, using: &random))
            if plan.due <= now.microseconds {
                due.append(key)
                let pause = min(Self.pauses.lowerBound << min(plan.tries, 3), Self.pauses.upperBound)
                plan.due = now.microseconds + Int64.random(in: pause...(pause * 2), using: &random)
                plan.tries += 1
            }
            next[key] = plan
        }
        plans = next
        return due
    }

    /// Notes that the ask for `key` was refused at `now`, for `seconds` at least.
    mutating func refused(
        _ key: [UInt8], for seconds: Int, at now: UnixTime, using random: inout some RandomNumberGenerator
    ) {
        let pause = min(Int64(clamping: max(1, seconds)) * 1_000_000, Self.pauses.upperBound)
        plans[key]?.due = now.microseconds + Int64.random(in: pause...(pause * 2), using: &random)
    }
}
