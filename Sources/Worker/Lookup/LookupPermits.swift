import Synchronization

/// So many at a time, in the order they came.
final class LookupPermits: Sendable {
    private struct Values {
        var free: Int
        var waiting: [Int: CheckedContinuation<Bool, Never>] = [:]
        var lastNumber = 0
        /// Who waits, first come first; and those who waited until they were cancelled.
        var order: ArraySlice<Int> = []
    }

    private let values: Mutex<Values>

    init(_ count: Int) { values = Mutex(Values(free: max(1, count))) }

    /// Runs `body` once there is room.
    ///
    /// - Returns: what `body` returns; nil where the task was cancelled first.
    func withPermit<Result>(_ body: () async -> Result) async -> Result? {
        guard await take() else { return nil }
        let result = await body()
        giveBack()
        return result
    }

    private func take() async -> Bool {
        let number = values.withLock { values in
            values.lastNumber += 1
            return values.lastNumber
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isIn: Bool? = values.withLock { values in
                    if Task.isCancelled { return false }
                    if values.free > 0 {
                        values.free -= 1
                        return true
                    }
                    values.waiting[number] = continuation
                    values.order.append(number)
                    return nil
                }
                if let isIn { continuation.resume(returning: isIn) }
            }
        } onCancel: {
            values.withLock { $0.waiting.removeValue(forKey: number) }?.resume(returning: false)
        }
    }

    /// The permit goes from hand to hand.
    private func giveBack() {
        let next = values.withLock { values -> CheckedContinuation<Bool, Never>? in
            while let number = values.order.popFirst() {
                if let next = values.waiting.removeValue(forKey: number) { return next }
            }
            values.free += 1
            return nil
        }
        next?.resume(returning: true)
    }
}
