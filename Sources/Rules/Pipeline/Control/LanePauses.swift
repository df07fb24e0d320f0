public import AdapterKit

/// The paused lanes of the fleet. Each change is returned once.
public struct LanePauses: Sendable {
    /// A change of a lane's pause.
    public enum Change: Sendable, Equatable {
        /// An operator paused a lane.
        case paused(LanePause)
        /// An operator resumed a lane.
        case resumed(LanePause)
        /// A pause passed its end.
        case elapsed(LanePause)
    }

    private var held = PerLane<LanePause?> { _ in nil }

    /// Creates a value without paused lanes.
    public init() {}

    /// All pauses, in the order of the lanes.
    public var all: [LanePause] { Lane.allCases.compactMap { held[$0] } }

    /// The paused lanes.
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
