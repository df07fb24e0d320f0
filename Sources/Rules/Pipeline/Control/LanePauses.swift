public import AdapterKit

/// The paused lanes of the fleet. Each change is returned once.
public struct LanePauses: Sendable {
    public enum Change: Sendable, Equatable {
        case paused(LanePause)
        case resumed(LanePause)
        case elapsed(LanePause)
    }

    private var held = PerLane<LanePause?> { _ in nil }

    /// Creates a value without paused lanes.
    public init() {}

    public var all: [LanePause] { Lane.allCases.compactMap { held[$0] } }

    public var lanes: Set<Lane> { Set(all.map(\.lane)) }

    /// Applies a record of the fleet: `lane` is paused by `pause`, or not paused. A pause that has passed its end
    /// counts as none.
    ///
    /// - Returns: the change; nil if the lane was paused and still is, or was not and still is not.
    public mutating func hold(_ pause: LanePause?, of lane: Lane, at now: UnixTime) -> Change? {
        let before = held[lane]
        let next = pause.flatMap { $0.isOver(at: now) ? nil : $0 }
        held[lane] = next
        switch (before, next) {
        case (nil, let next?): return .paused(next)
        case (let before?, nil): return pause == nil ? .resumed(before) : .elapsed(before)
        case (nil, nil), (_?, _?): return nil
        }
    }

    /// Applies the records that were written before this worker began to read the topic. They are a state, not changes.
    ///
    /// - Returns: the resulting changes, at most one per lane.
    public mutating func takeHistory(_ records: [LaneRecord], at now: UnixTime) -> [Change] {
        let before = held
        for record in records { _ = hold(record.pause, of: record.lane, at: now) }
        return Lane.allCases.compactMap { lane in
            switch (before[lane], held[lane]) {
            case (nil, let next?): .paused(next)
            case (let before?, nil): before.isOver(at: now) ? .elapsed(before) : .resumed(before)
            case (nil, nil), (_?, _?): nil
            }
        }
    }

    /// Ends the pauses that have passed their end.
    ///
    /// - Returns: the pauses, now over, as changes.
    public mutating func endElapsed(at now: UnixTime) -> [Change] {
        all.filter { $0.isOver(at: now) }.map { pause in
            held[pause.lane] = nil
            return .elapsed(pause)
        }
    }
}

/// A lane paused by an operator: its events stay in their topics, and its offsets do not move.
public struct LanePause: Sendable, Equatable {
    public let lane: Lane
    public let since: UnixTime
    public let by: String
    public let why: String
    /// The end of the pause; nil if an operator has to end it.
    public let until: UnixTime?

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

    public func isOver(at now: UnixTime) -> Bool { until.map { $0 <= now } ?? false }
}
