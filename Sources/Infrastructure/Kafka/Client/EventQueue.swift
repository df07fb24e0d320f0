import CRdKafka
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
