import CRdKafka
import Synchronization

/// The partition and the offset that a delivered record got.
package struct DeliveredPlace: Sendable, Equatable {
    /// The partition of the record's topic.
    package let partition: Int32
    package let offset: Int64

    /// `offset` of `partition`.
    package init(partition: Int32, offset: Int64) {
        self.partition = partition
        self.offset = offset
    }
}

/// The records handed to librdkafka whose fate is not known yet, by batch.
final class PendingDeliveries: Sendable {
    /// The tag that a record carries through librdkafka to match its delivery report: its batch and its place in it.
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

    /// A class, because a dictionary that lends out a struct for a change allocates memory for each record.
    private final class Batch {
        private var open: Int
        private var isSettled: [Bool]
        /// The delivery errors of records, by their place: usually none.
        private var errors: [Int: KafkaError] = [:]
        /// The places of the delivered records; nil where nobody wants to know them.
        private var places: [DeliveredPlace?]?
        private let done: @Sendable ([KafkaError?], [DeliveredPlace?]) -> Void

        init(_ count: Int, wantsPlaces: Bool, _ done: @escaping @Sendable ([KafkaError?], [DeliveredPlace?]) -> Void) {
            open = count
            isSettled = Array(repeating: false, count: count)
            places = wantsPlaces ? Array(repeating: nil, count: count) : nil
            self.done = done
        }

        /// - Returns: whether every record is settled now; false also where there is no such record.
        func settle(_ index: Int, _ error: KafkaError?, _ place: DeliveredPlace?) -> Bool {
            guard isSettled.indices.contains(index), !isSettled[index] else { return false }
            isSettled[index] = true
            if let error { errors[index] = error } else { places?[index] = place }
            open -= 1
            return open == 0
        }

        /// Resumes the waiter with the results; records that are not settled get `rest`.
        func resume(_ rest: KafkaError? = nil) {
            var outcomes = [KafkaError?](repeating: nil, count: isSettled.count)
            for (index, error) in errors { outcomes[index] = error }
            if let rest {
                for index in outcomes.indices where !isSettled[index] { outcomes[index] = rest }
            }
            done(outcomes, places ?? [])
        }
    }

    private struct State {
        var next: UInt32 = 1
        var batches: [UInt32: Batch] = [:]
    }

    private let state = Mutex(State())

    /// Opens a batch of `count` records; `waiter` is resumed when the last of them is settled.
    func open(_ count: Int, _ waiter: CheckedContinuation<[KafkaError?], Never>) -> UInt32 {
        open(count, wantsPlaces: false) { errors, _ in waiter.resume(returning: errors) }
    }

    /// As `open(_:_:)`, with the places of the records that were delivered.
    func open(_ count: Int, placed waiter: CheckedContinuation<[Result<DeliveredPlace?, KafkaError>], Never>) -> UInt32
    {
        open(count, wantsPlaces: true) { errors, places in
            waiter.resume(
                returning: zip(errors, places).map { error, place in error.map { .failure($0) } ?? .success(place) })
        }
    }

    private func open(
        _ count: Int, wantsPlaces: Bool, _ done: @escaping @Sendable ([KafkaError?], [DeliveredPlace?]) -> Void
    ) -> UInt32 {
        state.withLock { state in
            let id = state.next
            state.next = id == .max ? 1 : id + 1
            state.batches[id] = Batch(count, wantsPlaces: wantsPlaces, done)
            return id
        }
    }

    /// Settles one record; nil is a delivery.
    func settle(_ ticket: Ticket, _ error: KafkaError?) {
        var report: (Ticket, KafkaError?, DeliveredPlace?)? = (ticket, error, nil)
        settle {
            defer { report = nil }
            return report
        }
    }

    /// Settles the records that `next` reports until there are no more: thousands at once, under one lock.
    func settle(_ next: () -> (ticket: Ticket, error: KafkaError?, place: DeliveredPlace?)?) {
        let finished = state.withLock { state -> [Batch] in
            var finished: [Batch] = []
            while let (ticket, error, place) = next() {
                guard let batch = state.batches[ticket.batch], batch.settle(ticket.index, error, place) else {
                    continue
                }
                state.batches[ticket.batch] = nil
                finished.append(batch)
            }
            return finished
        }
        for batch in finished { batch.resume() }
    }

    /// Settles every record that is not, when no report can come any more.
    func settleAll(_ error: KafkaError) {
        let batches = state.withLock { state in
            defer { state.batches = [:] }
            return state.batches.values
        }
        for batch in batches { batch.resume(error) }
    }
}

/// The last time that a broker gave a delivered record. Noted once for each report of deliveries, which has up to
/// thousands of records.
final class LatestAppendTime: Sendable {
    /// The number that librdkafka's embedded broker answers in place of a time, in milliseconds (2.0.2,
    /// `rdkafka_mock_handlers.c`: `LogAppendTimeMs` of a produce response).
    private static let noTime: Int64 = 1234

    private let latest = Mutex<AppendTime?>(nil)

    /// Notes the time of a delivered record if a broker set it.
    func note(_ message: UnsafePointer<rd_kafka_message_t>) {
        guard unsafe message.pointee.err == RD_KAFKA_RESP_ERR_NO_ERROR else { return }
        var kind = RD_KAFKA_TIMESTAMP_NOT_AVAILABLE
        let timestamp = unsafe rd_kafka_message_timestamp(message, &kind)
        guard kind == RD_KAFKA_TIMESTAMP_LOG_APPEND_TIME, timestamp >= 0, timestamp != Self.noTime else { return }
        latest.withLock { $0 = AppendTime(milliseconds: timestamp, readAt: .now) }
    }

    /// Returns the time that was noted since the last call.
    func take() -> AppendTime? {
        latest.withLock { latest in
            defer { latest = nil }
            return latest
        }
    }
}
