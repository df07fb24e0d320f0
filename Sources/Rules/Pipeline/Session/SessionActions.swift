public import AdapterKit

extension SessionStateMachine {
    /// The settings for batches and commits.
    public struct Settings: Sendable {
        public let shares: LaneShares
        var limits: SessionLimits { SessionLimits(batch: shares.batchEvents) }
        /// The maximum time for which the first event waits for more, in microseconds.
        public let linger: Int64
        /// The minimum time between the beginnings of two commits that no live event waits for, in microseconds.
        public let pause: Int64
        /// The minimum time between the end of a commit and the beginning of the next, in microseconds.
        public let rest: Int64
        /// The time without events after which offsets are committed that no event comes with, in microseconds.
        public let idle: Int64
        public let retries: RetryPolicy
        /// The memory of consumed, unsettled events at which no more are consumed, in bytes.
        public let memory: Int
        /// The pauses after an abort, and between two checks of a topic that cannot be written.
        public let backoff: Backoff

        /// Creates settings for batches of `shares` that wait up to `linger` to fill.
        public init(
            shares: LaneShares, linger: Duration, pause: Duration = .milliseconds(100), rest: Duration = .zero,
            idle: Duration = .seconds(1), retries: RetryPolicy, memory: Int = .max, backoff: Backoff = Backoff()
        ) {
            self.memory = memory
            self.backoff = backoff
            self.shares = shares
            self.linger = linger.microseconds
            self.pause = pause.microseconds
            self.rest = rest.microseconds
            self.idle = idle.microseconds
            self.retries = retries
        }
    }

    /// A rebalance of a lane's consumer group.
    public enum Rebalance: Sendable, Equatable {
        case assigned([TopicPartition])
        /// The member gives up the partitions after it has committed the events in work.
        case revoked([TopicPartition])
        case lost([TopicPartition])

        public var partitions: [TopicPartition] {
            switch self {
            case .assigned(let partitions), .revoked(let partitions), .lost(let partitions): partitions
            }
        }

        public var isAssignment: Bool { if case .assigned = self { true } else { false } }
    }

    /// The records that the worker may consume of a lane.
    public enum Intake: Sendable, Equatable {
        /// Nothing: the group waits for an answer, or the worker is stopping.
        case nothing
        /// Only events that are no records: all partitions are paused.
        case news
        /// At most this number of records, of all partitions except the paused ones.
        case records(Int, except: Set<TopicPartition>)
    }

    /// The next step of the session loop.
    public enum Action: Sendable {
        /// Process the batch, then call `processed`.
        case process(Batch)
        /// Commit the unit in the background, then call `committed` or `aborted`.
        case commit(CommitUnit)
        /// Add the unit to the current commit if it is still open, then call `added`.
        case add(CommitUnit)
        /// Forget the tokens that were not published, then ask for the next step.
        case rollBack
        /// Answer the group that its rebalance is done, then call `answered`.
        case answer(Lane, Rebalance)
        /// Check in the background whether the blocked topic can be written, then call `unblocked` or `stillBlocked`.
        case check
        case wait(until: UnixTime?)
        case stop
    }
}

/// The limits of a session, in events. Each is a number of batches: one commit follows another only between two batches,
/// so a batch is small, and several batches share a commit.
struct SessionLimits: Sendable {
    /// The batches that fit into the events read ahead: one is processed while the next one is consumed.
    static let batchesAhead = 2

    /// The retries that may have finished before another batch without live events waits for the commit under way. A
    /// retry may cost next to nothing, so the number bounds the size of the next commit and not the time of the batch.
    static let readyRetries = 100

    /// The most events of a batch.
    let batch: Int

    /// The most events of a lane that are consumed and not in a batch yet.
    var ahead: Int { batch * Self.batchesAhead }

    /// The most finished events that may wait for the commit under way: the batches of one slow commit. At the limit,
    /// finished events are committed before more are processed.
    var ready: Int { batch * 6 }

    /// The most events that wait in place for their look-ups. At the limit, the next events that would wait move to the
    /// retry tiers, so that a slow vendor does not hold up the partitions.
    var parked: Int { batch * 4 }

    /// The most events of one commit, after additions: a failed commit repeats all of them.
    var commit: Int { batch * 12 }
}

/// The time for which events wait and none is settled: the measure of a worker's readiness. A value without a clock. It
/// outlives a session, so that new Kafka clients are no progress.
public struct SessionProgress: Sendable {
    /// The time without progress from which a worker is not ready.
    public static let limit = Duration.seconds(10)
    /// The time without progress from which a supervisor ends a worker that has events in hand. By then, a session whose
    /// transaction hangs has been replaced by another one.
    public static let end = Duration.seconds(120)

    public enum Waiting: Sendable, Equatable {
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
