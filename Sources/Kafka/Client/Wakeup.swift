import Dispatch
import Synchronization

/// Lets one task wait until something happened on a thread of librdkafka's.
///
/// Signals do not add up, and a waiter may wake without a reason: it looks again and waits again.
final class Wakeup: Sendable {
    private struct State {
        var isSignalled = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    /// Wakes the waiter, or the next one.
    func signal() {
        let waiter = state.withLock { state in
            state.isSignalled = state.waiter == nil
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }

    /// Waits for a signal, for `limit` or for the task's cancellation, whichever is first.
    func wait(atMost limit: Duration) async {
        let deadline =
            DispatchTime.now()
            + .nanoseconds(
                Int(clamping: limit.components.seconds) * 1_000_000_000
                    + Int(limit.components.attoseconds / 1_000_000_000))
        // A timer that comes late wakes a later wait for nothing, which is cheaper than taking it back.
        DispatchQueue.global().asyncAfter(deadline: deadline) { [self] in signal() }
        await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                let isSignalled = state.withLock { state in
                    defer { state.isSignalled = false }
                    if !state.isSignalled { state.waiter = waiter }
                    return state.isSignalled
                }
                if isSignalled { waiter.resume() }
            }
        } onCancel: {
            signal()
        }
    }
}
