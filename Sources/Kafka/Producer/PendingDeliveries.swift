import Synchronization

/// The records handed to librdkafka whose fate is not known yet, by batch.
final class PendingDeliveries: Sendable {
    /// What a record carries through librdkafka to find its way back: batch and place in it.
    struct Ticket: Sendable {
        let batch: UInt32
        let index: Int

        init(batch: UInt32, index: Int) {
            self.batch = batch
            self.index = index
        }

        /// A pointer-sized number that is never 0.
        var opaque: UInt { UInt(batch) << 32 | UInt(UInt32(truncatingIfNeeded: index)) }

        init(opaque: UInt) {
            batch = UInt32(truncatingIfNeeded: opaque >> 32)
            index = Int(UInt32(truncatingIfNeeded: opaque))
        }
    }

    private struct Batch {
        var open: Int
        var outcomes: [KafkaError?]
        var isSettled: [Bool]
        let waiter: CheckedContinuation<[KafkaError?], Never>

        /// - Returns: how many are open now; nil where there is no such record.
        mutating func settle(_ index: Int, _ error: KafkaError?) -> Int? {
            guard outcomes.indices.contains(index), !isSettled[index] else { return nil }
            outcomes[index] = error
            isSettled[index] = true
            open -= 1
            return open
        }
    }

    private struct State {
        var next: UInt32 = 1
        var batches: [UInt32: Batch] = [:]
    }

    private let state = Mutex(State())

    /// Opens a batch of `count` records; `waiter` is resumed when the last of them is settled.
    func open(_ count: Int, _ waiter: CheckedContinuation<[KafkaError?], Never>) -> UInt32 {
        state.withLock { state in
            let id = state.next
            state.next = id == .max ? 1 : id + 1
            state.batches[id] = Batch(
                open: count, outcomes: Array(repeating: nil, count: count),
                isSettled: Array(repeating: false, count: count), waiter: waiter)
            return id
        }
    }

    /// Settles one record; nil is a delivery.
    func settle(_ ticket: Ticket, _ error: KafkaError?) {
        let finished = state.withLock { state -> Batch? in
            // In place: a copy of the batch for each of its records would cost their number squared.
            guard let open = state.batches[ticket.batch]?.settle(ticket.index, error) else { return nil }
            return open == 0 ? state.batches.removeValue(forKey: ticket.batch) : nil
        }
        if let finished { finished.waiter.resume(returning: finished.outcomes) }
    }

    /// Settles every record that is not, when no report can come any more.
    func settleAll(_ error: KafkaError) {
        let batches = state.withLock { state in
            defer { state.batches = [:] }
            return state.batches.values
        }
        for batch in batches {
            batch.waiter.resume(returning: zip(batch.outcomes, batch.isSettled).map { $1 ? $0 : error })
        }
    }
}
