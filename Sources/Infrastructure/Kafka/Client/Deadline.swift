import Dispatch
import Synchronization

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
