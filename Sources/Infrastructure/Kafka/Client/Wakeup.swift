import Dispatch
import Synchronization

/// Lets one task wait until something happens on another thread, usually one of librdkafka's. Several consumers may
/// share one, so that a single task serves them all.
///
/// Signals do not add up, and a waiter may wake without a reason: it checks again and waits again.
public final class Wakeup: Sendable {
    private struct State {
        var isSignalled = false
        var waiter: CheckedContinuation<Void, Never>?
        /// Counts the waits, so that a timer ends its own wait alone: one that closed a later wait, which then sets a
        /// timer of its own, would keep as many wake-ups going for ever as there once were in a busy second.
        var waits: UInt64 = 0
    }

    private let state = Mutex(State())

    /// A wake-up without a signal.
    public init() {}

    /// Wakes the waiter, or the next one.
    public func signal() {
        let waiter = state.withLock { state in
            state.isSignalled = state.waiter == nil
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }

    /// Waits for a signal, for `limit` or for the task's cancellation, whichever is first. A second waiter sends the
    /// first one away.
    public func wait(atMost limit: Duration) async {
        let milliseconds = Int(limit.kafkaMilliseconds)
        await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                let (done, wait) = state.withLock { state in
                    state.waits &+= 1
                    let done = state.isSignalled ? waiter : state.waiter
                    let wait = state.isSignalled ? nil : state.waits
                    if !state.isSignalled { state.waiter = waiter }
                    state.isSignalled = false
                    return (done, wait)
                }
                done?.resume()
                guard let wait else { return }
                DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(milliseconds)) { [self] in
                    expire(wait)
                }
            }
        } onCancel: {
            signal()
        }
    }

    /// Ends a wait whose time is over, unless it is over already.
    private func expire(_ wait: UInt64) {
        let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard state.waits == wait else { return nil }
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }
}
