public import AdapterKit

/// A lane paused by an operator: its events stay in their topics, and its offsets do not move.
public struct LanePause: Sendable, Equatable {
    /// The lane.
    public let lane: Lane
    /// The start of the pause.
    public let since: UnixTime
    /// The operator who paused the lane.
    public let by: String
    /// The operator's reason, in one line.
    public let why: String
    /// The end of the pause; nil if an operator has to end it.
    public let until: UnixTime?

    /// Creates a pause with these parts.
    public init(lane: Lane, since: UnixTime, by: String = "", why: String = "", until: UnixTime? = nil) {
        self.lane = lane
        self.since = since
        self.by = by
        self.why = why
        self.until = until
    }

    /// Writes the members of the pause, for a record and for the status: its start, its end, its author and its reason.
    package func write(to json: inout JSONWriter) {
        ControlNote(since: since, until: until, by: by, why: why).write(to: &json)
    }

    /// Returns whether the pause has passed its end.
    public func isOver(at now: UnixTime) -> Bool { until.map { $0 <= now } ?? false }
}
