import Access
import Synchronization

/// A clock that a test moves.
final class ManualClock: Sendable {
    private let instant = Mutex(ContinuousClock.now)

    var now: ContinuousClock.Instant { instant.withLock { $0 } }

    func advance(by duration: Duration) { instant.withLock { $0 += duration } }
}

/// A call that a test answers by hand: a fetch, or a pause. A task that is canceled gets `CancellationError`.
final class ManualCall<Request: Sendable, Answer: Sendable>: Sendable {
    private struct State {
        var open: [(id: Int, continuation: CheckedContinuation<Answer, any Error>)] = []
        var begun: [Request] = []
        var lastID = 0
        var seen = 0
        var watcher: CheckedContinuation<Request, Never>?
    }

    private let state = Mutex(State())

    /// The number of calls made.
    var count: Int { state.withLock { $0.begun.count } }

    /// The call itself: returns what the test answers.
    func make(_ request: Request) async throws -> Answer {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                // In one step: a call that was seen can be answered.
                let (isCancelled, watcher) = state.withLock { state in
                    let isCancelled = Task.isCancelled
                    state.begun.append(request)
                    if !isCancelled { state.open.append((id, continuation)) }
                    defer { state.watcher = nil }
                    if state.watcher != nil { state.seen += 1 }
                    return (isCancelled, state.watcher)
                }
                if isCancelled { continuation.resume(throwing: CancellationError()) }
                watcher?.resume(returning: request)
            }
        } onCancel: {
            take { $0.id == id }?.resume(throwing: CancellationError())
        }
    }

    /// Waits until a call is made that was not seen yet.
    func next() async -> Request {
        await withCheckedContinuation { continuation in
            let begun = state.withLock { state -> Request? in
                guard state.seen < state.begun.count else {
                    state.watcher = continuation
                    return nil
                }
                state.seen += 1
                return state.begun[state.seen - 1]
            }
            if let begun { continuation.resume(returning: begun) }
        }
    }

    /// Answers the oldest call that is open.
    func answer(_ result: Result<Answer, any Error>) { take { _ in true }?.resume(with: result) }

    private func take(_ isWanted: ((id: Int, continuation: CheckedContinuation<Answer, any Error>)) -> Bool)
        -> CheckedContinuation<Answer, any Error>?
    {
        state.withLock { state in
            state.open.firstIndex(where: isWanted).map { state.open.remove(at: $0).continuation }
        }
    }
}

/// Returns `value` with a change.
func changed<Value>(_ value: Value, _ change: (inout Value) -> Void) -> Value {
    var value = value
    change(&value)
    return value
}
