import Synchronization

/// The permission of a commit to wait for a topic that cannot be written. The loop withdraws it when partitions are
/// revoked or the worker stops.
final class CommitPatience: Sendable {
    private let over = Atomic(false)

    var isOver: Bool {
        get { over.load(ordering: .relaxed) }
        set { over.store(newValue, ordering: .relaxed) }
    }
}
