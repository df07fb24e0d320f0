public import AdapterKit

extension SessionStateMachine {
    /// How events are put together.
    public struct Settings: Sendable {
        /// How a batch is shared out.
        public let shares: LaneShares
        /// The limits that follow from the size of a batch.
        var limits: SessionLimits { SessionLimits(batch: shares.batchEvents) }
        /// How long the first event waits for others at most, in microseconds.
        public let linger: Int64
        /// The least time between the beginnings of two transactions that no live event waits for, in microseconds.
        public let pause: Int64
        /// The least time between the end of a transaction and the beginning of the next, in microseconds.
        public let rest: Int64
        /// When events come back from the retry tiers.
        public let retries: RetryPolicy
        /// How much memory the events that were taken and have not ended may take before nothing more is taken, in bytes.
        public let memory: Int
        /// How long it is waited after an abort, and between two looks at a topic that cannot be written.
        public let backoff: Backoff

        /// Batches of `shares` that wait up to `linger` to fill.
        public init(
            shares: LaneShares, linger: Duration, pause: Duration = .milliseconds(100), rest: Duration = .zero,
            retries: RetryPolicy, memory: Int = .max, backoff: Backoff = Backoff()
        ) {
            self.memory = memory
            self.backoff = backoff
            self.shares = shares
            self.linger = linger.microseconds
            self.pause = pause.microseconds
            self.rest = rest.microseconds
            self.retries = retries
        }
    }

    /// What the group asks of a lane.
    public enum Rebalance: Sendable, Equatable {
        /// These become this member's.
        case assigned([TopicPartition])
        /// These are to be given up, after what is in work was committed.
        case revoked([TopicPartition])
        /// These are someone else's already.
        case lost([TopicPartition])

        /// The partitions it is about.
        public var partitions: [TopicPartition] {
            switch self {
            case .assigned(let partitions), .revoked(let partitions), .lost(let partitions): partitions
            }
        }

        /// Whether partitions become this member's.
        public var isAssignment: Bool { if case .assigned = self { true } else { false } }
    }

    /// What is taken of a lane.
    public enum Intake: Sendable, Equatable {
        /// Nothing: the group waits for an answer, or the worker stops.
        case nothing
        /// What is no record: every partition is paused.
        case news
        /// So many records at most, of every partition but these, which are paused.
        case records(Int, except: Set<TopicPartition>)
    }

    /// What is to be done next.
    public enum Action: Sendable {
        /// Take these events to their ends, then call `processed`.
        case process(Batch)
        /// Commit, in the background, then call `committed` or `aborted`.
        case commit(CommitUnit)
        /// Add this to the transaction under way if that is still possible, then call `added`.
        case add(CommitUnit)
        /// Forget the tokens that were not published, then ask again.
        case rollBack
        /// Tell the group that its rebalance is done, then call `answered`.
        case answer(Lane, Rebalance)
        /// See, in the background, whether the topic that could not be written can be, then call `unblocked` or `stillBlocked`.
        case check
        /// Wait until something happens, or until this moment.
        case wait(until: UnixTime?)
        /// Everything is done and nothing more is taken.
        case stop
    }
}
