public import AdapterKit

/// Which lanes rest, by what the whole fleet was told; a value that says each change once.
public struct LanePauses: Sendable {
    /// What changed.
    public enum Change: Sendable, Equatable {
        /// An operator paused a lane.
        case paused(LanePause)
        /// An operator ended a pause.
        case resumed(LanePause)
        /// The time of a pause is over.
        case elapsed(LanePause)
    }

    private var held = PerLane<LanePause?> { _ in nil }

    /// No lane rests.
    public init() {}

    /// The pauses there are, in the order of the lanes.
    public var all: [LanePause] { Lane.allCases.compactMap { held[$0] } }

    /// The lanes that rest.
    public var lanes: Set<Lane> { Set(all.map(\.lane)) }

    /// The fleet was told that `pause` holds `lane`, or that nothing does. One whose time is over already is none.
    ///
    /// - Returns: what that changes here; nil where the lane rested before and still does, or did not and does not.
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

    /// Takes in what the fleet was told before anybody listened here: a state, and no news.
    ///
    /// - Returns: what that changes here, however often it was changed back and forth.
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

    /// Ends the pauses whose time is over.
    ///
    /// - Returns: what ended.
    public mutating func endElapsed(at now: UnixTime) -> [Change] {
        all.filter { $0.isOver(at: now) }.map { pause in
            held[pause.lane] = nil
            return .elapsed(pause)
        }
    }
}
