import Synchronization

/// Whether a commit may go on waiting for a topic that cannot be written. The loop takes it away when the partitions are
/// asked back or the worker stops.
final class CommitPatience: Sendable {
    private let over = Atomic(false)

    var isOver: Bool {
        get { over.load(ordering: .relaxed) }
        set { over.store(newValue, ordering: .relaxed) }
    }
}
