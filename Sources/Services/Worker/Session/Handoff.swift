import Synchronization

/// The result of background work, left for the loop to find.
final class Handoff<Message: Sendable>: Sendable {
    private let message = Mutex<Message?>(nil)

    func put(_ new: Message) { message.withLock { $0 = new } }

    func take() -> Message? {
        message.withLock { message in
            defer { message = nil }
            return message
        }
    }
}

extension Handoff where Message: RangeReplaceableCollection {
    /// Adds to the results that the loop has not found yet.
    func add(_ new: Message.Element) { message.withLock { $0 = ($0 ?? Message()) + CollectionOfOne(new) } }
}
