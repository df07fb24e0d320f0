public import AdapterKit

extension SessionStateMachine {
    /// The settings for batches and commits.
    public struct Settings: Sendable {
        /// The shares of the lanes in a batch.
        public let shares: LaneShares
        /// The limits that follow from the size of a batch.
        var limits: SessionLimits { SessionLimits(batch: shares.batchEvents) }
        /// The maximum time for which the first event waits for more, in microseconds.
        public let linger: Int64
        /// The minimum time between the beginnings of two commits that no live event waits for, in microseconds.
        public let pause: Int64
        /// The minimum time between the end of a commit and the beginning of the next, in microseconds.
        public let rest: Int64
        /// The time without events after which offsets are committed that no event comes with, in microseconds.
        public let idle: Int64
        /// The rules for retries.
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
        /// The partitions become this member's.
        case assigned([TopicPartition])
        /// The member gives up the partitions after it has committed the events in work.
        case revoked([TopicPartition])
        /// The partitions already belong to another member.
        case lost([TopicPartition])

        /// The partitions of the rebalance.
        public var partitions: [TopicPartition] {
            switch self {
            case .assigned(let partitions), .revoked(let partitions), .lost(let partitions): partitions
            }
        }

        /// Whether the partitions become this member's.
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
        /// Wait until something happens, or until this time.
        case wait(until: UnixTime?)
        /// Stop: everything is done.
        case stop
    }
}
