import Synchronization

/// Allows a fixed number of tasks to run at a time, in the order in which they took their places.
///
/// A task takes its place where the order is known; it may begin to wait later than tasks behind it.
final class LookupPermits: Sendable {
    /// A place in the line. Each is used once, with `withPermit`.
    struct Place: Sendable, Hashable {
        fileprivate let number: Int
    }

    /// The state of a place in the line, until its task runs with a permit or is canceled.
    private enum Standing {
        /// The place is taken, and its task has not come yet.
        case expected
        /// The task has not come yet, and has its permit already.
        case granted
        case waiting(CheckedContinuation<Bool, Never>)
    }

    private struct Values {
        var free: Int
        var lastNumber = 0
        var standings: [Place: Standing] = [:]
        /// The places without a permit, in their order; and those of canceled tasks.
        var order: ArraySlice<Place> = []
    }

    private let values: Mutex<Values>

    init(_ count: Int) { values = Mutex(Values(free: max(1, count))) }

    /// Takes the next place in the queue.
    func place() -> Place {
        values.withLock { values in
            values.lastNumber += 1
            let place = Place(number: values.lastNumber)
            if values.free > 0 {
                values.free -= 1
                values.standings[place] = .granted
            } else {
                values.order.append(place)
                values.standings[place] = .expected
            }
            return place
        }
    }

    /// Runs `body` once there is room for `place`.
    ///
    /// - Returns: the result of `body`; nil where the task was canceled first.
    func withPermit<Result>(_ place: Place, _ body: () async -> Result) async -> Result? {
        guard await wait(in: place) else { return nil }
        // A permit that came with the cancellation, or before it, goes on to the next.
        let result = Task.isCancelled ? nil : await body()
        giveBack()
        return result
    }

    /// - Returns: whether there is a permit now; false where the task was canceled first.
    private func wait(in place: Place) async -> Bool {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isIn: Bool? = values.withLock { values in
                    guard case .expected = values.standings[place] else {
                        return values.standings.removeValue(forKey: place) != nil
                    }
                    if Task.isCancelled {
                        values.standings[place] = nil
                        return false
                    }
                    values.standings[place] = .waiting(continuation)
                    return nil
                }
                if let isIn { continuation.resume(returning: isIn) }
            }
        } onCancel: {
            let waiting = values.withLock { values -> CheckedContinuation<Bool, Never>? in
                guard case .waiting(let continuation) = values.standings[place] else { return nil }
                values.standings[place] = nil
                return continuation
            }
            waiting?.resume(returning: false)
        }
    }

    /// Passes the permit to the next task, or frees it.
    private func giveBack() {
        let next = values.withLock { values -> CheckedContinuation<Bool, Never>? in
            while let place = values.order.popFirst() {
                switch values.standings[place] {
                case .waiting(let continuation):
                    values.standings[place] = nil
                    return continuation
                case .expected:
                    values.standings[place] = .granted
                    return nil
                case .granted, nil: continue
                }
            }
            values.free += 1
            return nil
        }
        next?.resume(returning: true)
    }
}
