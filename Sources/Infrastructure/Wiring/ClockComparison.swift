package import AdapterKit
import Pipeline

/// The difference between this process's clock and another clock that dates something the process reads. A value without
/// a clock.
///
/// The gateway judges sessions and tokens by its own clock, and the worker dates tokens by its own. A wrong clock refuses
/// valid sessions, and mints expired tokens. One moment that agrees clears the difference, because the other clock may be
/// the wrong one.
package struct ClockComparison: Sendable {
    /// The largest difference, in microseconds, that a delay explains: five minutes.
    package static let bound: Int64 = 300_000_000
    /// The number of moments in a row that must differ.
    private static let moments = 3
    /// The time for which they count without another one, in microseconds.
    private static let memory: Int64 = 600_000_000

    private var differing: (count: Int, by: Int64, at: UnixTime)?
    private var latest: (difference: Int64, at: UnixTime)?

    package init() {}

    /// Records that something was dated `moment` by the other clock, and read at the time `now` of this clock.
    ///
    /// - Returns: whether the two agree.
    @discardableResult
    package mutating func record(_ moment: UnixTime, at now: UnixTime) -> Bool {
        let difference = now.microseconds(since: moment)
        latest = (difference, now)
        guard difference.magnitude > UInt64(Self.bound) else {
            differing = nil
            return true
        }
        differing = ((differing?.count ?? 0) + 1, difference, now)
        return false
    }

    /// Records as `record(_:at:)` does something that may have waited for any time before it was read: it can only show
    /// that this clock is behind.
    package mutating func record(delayed moment: UnixTime, at now: UnixTime) { record(max(moment, now), at: now) }

    /// Returns the lead of this clock in microseconds, negative where it is behind; nil where the clocks agree or it is
    /// unknown.
    package func difference(at now: UnixTime) -> Int64? {
        guard let differing, differing.count >= Self.moments, Self.isRecent(differing.at, now) else { return nil }
        return differing.by
    }

    /// Returns the lead of this clock at the last moment, in microseconds, however small it is; nil where there is none of
    /// late.
    package func measured(at now: UnixTime) -> Int64? {
        guard let latest, Self.isRecent(latest.at, now) else { return nil }
        return latest.difference
    }

    private static func isRecent(_ time: UnixTime, _ now: UnixTime) -> Bool {
        now.microseconds(since: time).magnitude <= UInt64(memory)
    }
}

/// Notices that this clock was set, by a clock that nobody sets. A value without a clock.
package struct ClockSteps: Sendable {
    /// The time for which a set clock is in doubt if no other clock agrees with it.
    private static let memory = Duration.seconds(3600)
    /// The lead of this clock over the one that nobody sets, while this clock was right, in microseconds.
    private var lead: Int64
    private var since: Duration?

    /// Begins at the time `now` of a clock that counts as right.
    package init(at now: UnixTime, elapsed: Duration) { lead = Self.lead(now, elapsed) }

    /// Notes that another clock agrees with this one.
    package mutating func agreed(_ now: UnixTime, elapsed: Duration) {
        (lead, since) = (Self.lead(now, elapsed), nil)
    }

    /// Returns whether this clock was set by more than `ClockComparison.bound` since another one agreed with it.
    package mutating func isSet(_ now: UnixTime, elapsed: Duration) -> Bool {
        let present = Self.lead(now, elapsed)
        let step = UnixTime(microseconds: present).microseconds(since: UnixTime(microseconds: lead))
        guard step.magnitude > UInt64(ClockComparison.bound) else {
            since = nil
            return false
        }
        since = since ?? elapsed
        guard let since, elapsed - since < Self.memory else {
            agreed(now, elapsed: elapsed)
            return false
        }
        return true
    }

    private static func lead(_ now: UnixTime, _ elapsed: Duration) -> Int64 {
        now.microseconds(since: UnixTime(microseconds: elapsed.microseconds))
    }
}

/// The duration of a failure: from its first report to its token.
public enum RecoveryTime {
    /// The upper bounds of the histograms' buckets, in seconds: the worker's and the gateway's are the same, so that their difference
    /// can be asked for.
    package static let buckets = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600]

    /// Returns the time from `reported` to `now`, in seconds. Devices, edges, workers and gateways each have a clock of
    /// their own. Where their difference puts the answer before the report, the result is 0.
    package static func seconds(from reported: UnixTime, to now: UnixTime) -> Double {
        Double(max(0, now.microseconds(since: reported))) / 1e6
    }
}
