import Kafka
import Synchronization

/// The work that runs beside a session's loop.
///
/// No call of librdkafka can be canceled, and a commit takes as long as the brokers take. So this is no task group,
/// which would wait for its tasks however long they hang: a caller can stop waiting for them.
final class BackgroundWork: Sendable {
    private struct State {
        var next = 0
        var tasks: [Int: Task<Void, Never>] = [:]
        var isCancelled = false
    }

    private let state = Mutex(State())

    /// Begins `work`. It sees the graceful shutdown that its caller sees.
    func addTask(_ work: @escaping @Sendable () async -> Void) {
        state.withLock { state in
            let id = state.next
            state.next += 1
            state.tasks[id] = Task { [isCancelled = state.isCancelled] in
                // A task may run before its handle is here, so a canceled one cancels itself before its work looks.
                if isCancelled { withUnsafeCurrentTask { $0?.cancel() } }
                await work()
                self.ended(id)
            }
        }
    }

    private func ended(_ id: Int) { state.withLock { $0.tasks[id] = nil } }

    /// Cancels running tasks, and all tasks that are added later.
    func cancel() {
        state.withLock { state in
            state.isCancelled = true
            for task in state.tasks.values { task.cancel() }
        }
    }

    func finish() async {
        for task in state.withLock({ Array($0.tasks.values) }) { await task.value }
    }

    /// Waits as `finish` does, but no longer than `limit`.
    ///
    /// - Returns: false where something goes on.
    func finish(within limit: Duration) async -> Bool {
        if state.withLock({ $0.tasks.isEmpty }) { return true }
        return await Deadline.run(within: max(limit, .zero)) { done in
            Task {
                await finish()
                done()
            }
        }
    }
}

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
    func add(_ new: Message.Element) { message.withLock { $0 = ($0 ?? Message()) + CollectionOfOne(new) } }
}
