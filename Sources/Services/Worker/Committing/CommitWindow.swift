import Synchronization

/// The time in which a commit may wait for a topic that cannot be written. The loop ends it when partitions are revoked
/// or the worker stops.
final class CommitWindow: Sendable {
    private let over = Atomic(false)

    var isOver: Bool {
        get { over.load(ordering: .relaxed) }
        set { over.store(newValue, ordering: .relaxed) }
    }
}
