import CRdKafka
import Dispatch
import Synchronization

/// An event queue of librdkafka, with a wake-up when it stops being empty.
///
/// `@unchecked Sendable`: librdkafka's queues may be used from any thread. `close` is called once, by the owner, on the
/// thread (or in the actor) that polls, so that no poll is under way; one that comes later finds nothing.
@safe
final class EventQueue: @unchecked Sendable {
    let pointer: OpaquePointer
    /// Signaled when an empty queue gets its first event.
    let wakeup: Wakeup
    private let isClosed = Atomic(false)

    /// Takes ownership of a reference to `pointer`.
    init(owning pointer: OpaquePointer, wakeup: Wakeup = Wakeup()) {
        unsafe self.pointer = unsafe pointer
        self.wakeup = wakeup
        // The queue keeps this reference until `close`; disabling takes the queue's lock, so no call is under way then.
        let context = unsafe Unmanaged.passRetained(wakeup).toOpaque()
        unsafe rd_kafka_queue_cb_event_enable(pointer, signalWakeup, context)
        // Events that were there before the callback do not call it.
        wakeup.signal()
    }

    /// Returns the next event; nil where there is none. The caller destroys it.
    func poll(timeoutMilliseconds: Int32 = 0) -> OpaquePointer? {
        unsafe isClosed.load(ordering: .acquiring) ? nil : rd_kafka_queue_poll(pointer, timeoutMilliseconds)
    }

    /// Ends the wake-ups and gives the queue back.
    func close() {
        isClosed.store(true, ordering: .releasing)
        unsafe rd_kafka_queue_cb_event_enable(pointer, nil, nil)
        unsafe Unmanaged.passUnretained(wakeup).release()
        unsafe rd_kafka_queue_destroy(pointer)
    }
}

/// Signals the wake-up. Called on a thread of librdkafka, with the queue's lock held: it must not call back into the
/// library.
private func signalWakeup(_ client: OpaquePointer?, _ context: UnsafeMutableRawPointer?) {
    guard let context = unsafe context else { return }
    unsafe Unmanaged<Wakeup>.fromOpaque(context).takeUnretainedValue().signal()
}

/// Lets one task wait until something happens on another thread, usually one of librdkafka's. Several consumers may
/// share one, so that a single task serves them all.
///
/// Signals do not add up, and a waiter may wake without a reason: it checks again and waits again.
package final class Wakeup: Sendable {
    private struct State {
        var isSignalled = false
        var waiter: CheckedContinuation<Void, Never>?
        /// Counts the waits, so that a timer ends its own wait alone: one that closed a later wait, which then sets a
        /// timer of its own, would keep as many wake-ups going for ever as there once were in a busy second.
        var waits: UInt64 = 0
    }

    private let state = Mutex(State())

    /// A wake-up without a signal.
    package init() {}

    /// Wakes the waiter, or the next one.
    package func signal() {
        let waiter = state.withLock { state in
            state.isSignalled = state.waiter == nil
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }

    /// Waits for a signal, for `limit` or for the task's cancellation, whichever is first. A second waiter sends the
    /// first one away.
    package func wait(atMost limit: Duration) async {
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

/// Waits for something that cannot be canceled, but not for ever.
package enum Deadline {
    /// Starts `work`, which calls its argument when it is done.
    ///
    /// - Returns: true when that was within `limit`. The work goes on either way.
    package static func run(within limit: Duration, _ work: (@escaping @Sendable () -> Void) -> Void) async -> Bool {
        await withCheckedContinuation { continuation in
            let answered = OnceAnswer(continuation)
            work { answered.give(true) }
            DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(Int(limit.kafkaMilliseconds))) {
                answered.give(false)
            }
        }
    }
}

/// A continuation that is resumed by the first of several.
private final class OnceAnswer: Sendable {
    private let continuation: Mutex<CheckedContinuation<Bool, Never>?>

    init(_ continuation: CheckedContinuation<Bool, Never>) { self.continuation = Mutex(continuation) }

    func give(_ answer: Bool) {
        let waiter = continuation.withLock { state in
            defer { state = nil }
            return state
        }
        waiter?.resume(returning: answer)
    }
}
