import Kafka

/// The reason why a worker closes its Kafka clients.
enum SessionEnd: Sendable {
    case stopped
    /// New ones are wanted: the files of their certificates changed. All that was ready is committed, and the partitions are given
    /// back.
    case renewed
    /// A partition's log is not the one that was read; the next session decides where to read from.
    case reopened
    /// The clients are of no further use; new ones start from the broker's committed offsets.
    case unusable(KafkaError)
    /// Another worker has this one's transactional id, or its places in the groups.
    case fenced(KafkaError)
    /// An error in the program: the worker must stop.
    case broken(String)

    /// Whether no session follows, because the worker was asked to stop.
    var isStop: Bool { if case .stopped = self { true } else { false } }

    /// The end of a session one of whose clients failed with `error`.
    init(failed error: KafkaError) { self = error.isFenced ? .fenced(error) : .unusable(error) }
}
