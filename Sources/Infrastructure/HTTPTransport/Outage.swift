/// The state of something that is fetched again and again: reachable, or failing since some moment. A value without a clock: times
/// are lengths since any moment that the caller keeps to.
///
/// An outage is reported once for each reason, and for a few reasons at most, so that a server that fails in turns fills no log. Its
/// end is reported once, with its length.
package struct Outage: Sendable, Equatable {
    /// A line for an operator.
    package enum Notice: Sendable, Equatable {
        /// The work failed, for this reason.
        case failed(String)
        /// The work succeeds again, after this time.
        case recovered(after: Duration)
    }

    /// The most reasons that one outage is reported for.
    private static let mostReasons = 4

    private var start: Duration?
    private var reasons: [String] = []

    /// No failure yet.
    package init() {}

    /// Whether the last try failed.
    package var isOngoing: Bool { start != nil }

    /// Records a failed try.
    ///
    /// - Returns: the notice to report; nil where the reason was reported already.
    package mutating func failed(_ reason: String, at now: Duration) -> Notice? {
        if start == nil { start = now }
        guard !reasons.contains(reason), reasons.count < Self.mostReasons else { return nil }
        reasons.append(reason)
        return .failed(reason)
    }

    /// Records a try that succeeded.
    ///
    /// - Returns: the end of an outage; nil where there was none.
    package mutating func succeeded(at now: Duration) -> Notice? {
        guard let start else { return nil }
        self = Outage()
        return .recovered(after: max(.zero, now - start))
    }

    /// Returns a length for an operator, to the second: `1h2m`, `1m50s`, `3s`.
    package static func text(_ length: Duration) -> String {
        let seconds = max(0, length.components.seconds)
        if seconds >= 3600 { return "\(seconds / 3600)h\(seconds % 3600 / 60)m" }
        return seconds >= 60 ? "\(seconds / 60)m\(seconds % 60)s" : "\(seconds)s"
    }
}
