import AdapterKit

/// The time for which events wait and none is settled: the measure of a worker's readiness. A value without a clock. It
/// outlives a session, so that new Kafka clients are no progress.
public struct SessionProgress: Sendable {
    /// The time without progress from which a worker is not ready.
    public static let limit = Duration.seconds(10)
    /// The time without progress from which a supervisor ends a worker that has events in hand. By then, a session whose
    /// transaction hangs has been replaced by another one.
    public static let end = Duration.seconds(120)

    /// The events that wait for a session.
    public enum Waiting: Sendable, Equatable {
        /// No event waits.
        case nothing
        /// Events wait in assigned partitions, and the worker has none of them.
        case records
        /// The worker has events that it could settle or commit.
        case work
    }

    private var since: Duration?
    private var waiting = Waiting.nothing

    /// No event waits.
    public init() {}

    /// Notes that events were settled, or offsets committed.
    public mutating func advanced() { since = nil }

    /// Notes what waits at the time `now`, counted from any moment.
    ///
    /// - Returns: the time for which events wait and none was settled; nil while that is shorter than the limit.
    public mutating func look(at waiting: Waiting, now: Duration) -> Duration? {
        self.waiting = waiting
        since = waiting == .nothing ? nil : since ?? now
        return since.map { now - $0 }.flatMap { $0 < Self.limit ? nil : $0 }
    }

    /// Returns whether a supervisor should end the worker: a restart helps where work stands still, and brings no record.
    public func isStuck(at now: Duration) -> Bool {
        waiting == .work && since.map { now - $0 >= Self.end } ?? false
    }
}

extension SessionStateMachine {
    /// Returns what waits.
    ///
    /// - Parameter lag: the unsettled records of the live and bulk lanes that are not paused. A retry waits for its time.
    public func waiting(lag: Int) -> SessionProgress.Waiting {
        if isQuiet { return .nothing }
        if !isSettled || taken.waiting(.live) + taken.waiting(.bulk) > 0 { return .work }
        return lag > parked.count ? .records : .nothing
    }

    /// The step at which the session stands, for people.
    public var standing: String {
        if let lane = Lane.allCases.first(where: { rebalances[$0] != nil }) {
            return unprepared.contains(lane)
                ? "the brokers do not show where the partitions of the \(lane.rawValue) lane begin"
                : "the group of the \(lane.rawValue) lane waits for an answer"
        }
        if isBlocked { return "a topic cannot be written" }
        if let unit = ended.committing { return "the commit of \(unit.eventCount.of("event")) has no result" }
        if let processing { return "\(processing.records.count.of("event is", "events are")) in work" }
        if ended.readyCount > 0 {
            return "\(ended.readyCount.of("settled event waits", "settled events wait")) for a commit"
        }
        return isMoreComing ? "events wait for a batch" : "no record arrives"
    }
}
