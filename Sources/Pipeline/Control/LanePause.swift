public import AdapterKit

/// A lane that rests because an operator says so: its events stay where they are, and so do its offsets.
public struct LanePause: Sendable, Equatable {
    /// The lane.
    public let lane: Lane
    /// Since when.
    public let since: UnixTime
    /// Who said so.
    public let by: String
    /// In a line, what the operator wants to be known.
    public let why: String
    /// When it ends by itself; nil where an operator has to end it.
    public let until: UnixTime?

    /// A pause with these parts.
    public init(lane: Lane, since: UnixTime, by: String = "", why: String = "", until: UnixTime? = nil) {
        self.lane = lane
        self.since = since
        self.by = by
        self.why = why
        self.until = until
    }

    /// The members that tell of it, in a record as in a status: since when, until when, by whom, why.
    package func write(to json: inout JSONWriter) {
        ControlNote(since: since, until: until, by: by, why: why).write(to: &json)
    }

    /// Whether its time is over.
    public func isOver(at now: UnixTime) -> Bool { until.map { $0 <= now } ?? false }
}
