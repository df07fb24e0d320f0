import CRdKafka
import Dispatch
package import Logging
import Synchronization

/// A producer: idempotent, and transactional where its properties name a `transactional.id`.
package final class KafkaProducer: KafkaClient {
    let client: ClientHandle
    private let queue: EventQueue
    private let pending = PendingDeliveries()
    private let reports: DispatchQueue
    private let drainer: Task<Void, Never>
    /// The topics that were made known; the library forgets a topic nobody holds.
    private let known = Mutex<[String: TopicHandle]>([:])
    private let appendTime = LatestAppendTime()
    /// The deadline of `close`, in nanoseconds of `DispatchTime`. After it, the producer refuses a record that finds
    /// the queue full.
    private let patienceEnd = Atomic(Int64.max)

    /// A producer with librdkafka's `properties`; `bootstrap.servers` is needed.
    ///
    /// - Throws: `KafkaError` when librdkafka refuses a property.
    package init(_ properties: ClientProperties, logger: Logger) throws(KafkaError) {
        let events =
            RD_KAFKA_EVENT_DR | RD_KAFKA_EVENT_ERROR | RD_KAFKA_EVENT_LOG | RD_KAFKA_EVENT_STATS
            | RD_KAFKA_EVENT_OAUTHBEARER_TOKEN_REFRESH
        let client = try ClientHandle(
            RD_KAFKA_PRODUCER, properties.withDefaults(["enable.idempotence": "true"]), events: events, logger: logger)
        guard let main = unsafe rd_kafka_queue_get_main(client.pointer) else {
            unsafe client.enqueue { _ in client.destroy() }
            throw KafkaError(.invalidState, "the producer has no event queue")
        }
        let queue = unsafe EventQueue(owning: main), pending = pending, appendTime = appendTime,
            reports = DispatchQueue(label: "remint.kafka.deliveries")
        self.client = client
        self.queue = queue
        self.reports = reports
        // The only unstructured task: delivery reports must be read as long as the producer lives, whatever waits for
        // them.
        drainer = Task {
            while !Task.isCancelled {
                await queue.wakeup.wait(atMost: .seconds(1))
                await withCheckedContinuation { done in
                    reports.async {
                        Self.drain(queue, client, pending, appendTime)
                        done.resume()
                    }
                }
            }
        }
    }

    /// Produces `records` and waits until each is delivered or has failed. Under a transaction, delivered means written,
    /// not committed.
    ///
    /// - Returns: for each record, nil or why it was not delivered.
    package func deliver(_ records: [ProducerRecord]) async -> [KafkaError?] {
        guard !records.isEmpty else { return [] }
        return await withCheckedContinuation { hand(records, as: pending.open(records.count, $0)) }
    }

    /// Produces `records` and waits, as `deliver` does.
    ///
    /// - Returns: for each record, its place, nil where the broker did not name it, or why it was not delivered.
    package func deliverPlaced(_ records: [ProducerRecord]) async -> [Result<DeliveredPlace?, KafkaError>] {
        guard !records.isEmpty else { return [] }
        return await withCheckedContinuation { hand(records, as: pending.open(records.count, placed: $0)) }
    }

    /// Hands `records` to librdkafka, as the batch `batch`.
    private func hand(_ records: [ProducerRecord], as batch: UInt32) {
        unsafe client.enqueue { [self] pointer in
            let topics = known.withLock { $0 }
            for (index, record) in records.enumerated() {
                let ticket = PendingDeliveries.Ticket(batch: batch, index: index)
                let error =
                    unsafe client.isClosed
                    ? .clientIsClosed : produce(record, to: topics[record.topic], ticket, pointer)
                if let error { pending.settle(ticket, error) }
            }
        }
    }

    /// Looks the topics up, so that the first record of each does not wait for a second until librdkafka has asked for
    /// its topic (before 2.10.1). Called before the first transaction.
    package func prepare(_ topics: [String]) {
        unsafe client.enqueue { [self] pointer in
            guard !client.isClosed else { return }
            known.withLock { known in
                for topic in topics where known[topic] == nil {
                    known[topic] = unsafe TopicHandle(pointer: rd_kafka_topic_new(pointer, topic, nil))
                }
            }
        }
    }

    /// Returns the names of all usable topics that the cluster shows to this client.
    ///
    /// - Throws: `KafkaError` when none answers within `limit`.
    package func topicNames(within limit: Duration) async throws(KafkaError) -> [String] {
        try await topics(within: limit).filter { $0.error == nil }.map(\.name)
    }

    /// Returns the metadata of all topics that the cluster shows to this client. Unlike `metadata(of:within:)` it
    /// creates none.
    ///
    /// - Throws: `KafkaError` when none answers within `limit`.
    package func topics(within limit: Duration) async throws(KafkaError) -> [TopicMetadata] {
        try await client.topics(within: limit)
    }

    /// Returns the last time that a broker gave a record of this producer, since the last call; nil where no topic has
    /// `message.timestamp.type=LogAppendTime`.
    package func takeAppendTime() -> AppendTime? { appendTime.take() }

    /// The longest time of late for which a broker made this producer wait because of a quota; needs `statistics.interval.ms`.
    package var throttle: Duration { client.throttle.longest }

    /// The client's last error, whichever call it concerned. It explains why a call ran out of time.
    package var lastError: KafkaError? { client.lastError }

    /// Asks the cluster about `topic`. A cluster that creates topics automatically creates it.
    ///
    /// - Throws: `KafkaError` when no broker answers within `limit`.
    package func metadata(of topic: String, within limit: Duration) async throws(KafkaError) -> TopicMetadata {
        try await client.metadata(of: topic, within: limit)
    }

    /// Waits for the records under way, gives up on the rest and frees the client. No other call may follow.
    ///
    /// - Returns: false where that took longer than `limit`; then it continues in the background, and nobody must wait
    ///   for it.
    @discardableResult
    package func close(within limit: Duration) async -> Bool {
        let end = DispatchTime.now() + .milliseconds(Int(limit.kafkaMilliseconds))
        patienceEnd.min(Int64(clamping: end.uptimeNanoseconds), ordering: .relaxed)
        return await Deadline.run(within: .milliseconds(limit.kafkaMilliseconds) + .seconds(1)) { done in
            unsafe client.enqueue { [self] pointer in
                // A second call waits in line behind the first one.
                guard client.beginClosing() else { return reports.async { done() } }
                let now = DispatchTime.now()
                let rest = end > now ? Int32((end.uptimeNanoseconds - now.uptimeNanoseconds) / 1_000_000) : 0
                if unsafe rd_kafka_flush(pointer, rest) != RD_KAFKA_RESP_ERR_NO_ERROR {
                    unsafe rd_kafka_purge(pointer, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT)
                }
                drainer.cancel()
                // In line behind a drain that is under way; the last reports are read here.
                reports.async { [self] in
                    Self.drain(queue, client, pending, appendTime)
                    queue.close()
                    pending.settleAll(.clientIsClosed)
                    known.withLock { handles in
                        handles.values.forEach { $0.destroy() }
                        handles = [:]
                    }
                    client.destroy()
                    done()
                }
            }
        }
    }

    // MARK: Records

    /// Passes a record to librdkafka, on the client's own thread.
    ///
    /// - Parameter topic: the topic's handle, where it was looked up before; librdkafka finds any other topic by its
    ///   name.
    private func produce(
        _ record: ProducerRecord, to topic: TopicHandle?, _ ticket: PendingDeliveries.Ticket, _ pointer: OpaquePointer
    ) -> KafkaError? {
        while true {
            var headers: OpaquePointer?
            let body = record.body
            let code = unsafe RecordHeaders.withBytes(body.bytes) { start in
                unsafe headers = unsafe RecordHeaders.make(body, start)
                let (key, value) = (body.keyPart, body.valuePart)
                return unsafe remint_produce(
                    pointer, topic?.pointer, topic == nil ? record.topic : nil, key == nil ? nil : start,
                    key?.count ?? 0, value.map { unsafe start + $0.lowerBound }, value?.count ?? 0, headers,
                    UnsafeMutableRawPointer(bitPattern: ticket.opaque))
            }
            if code == RD_KAFKA_RESP_ERR_NO_ERROR { return nil }
            if let headers = unsafe headers { unsafe rd_kafka_headers_destroy(headers) }
            guard code == RD_KAFKA_RESP_ERR__QUEUE_FULL else {
                return unsafe KafkaError(code, in: "producing to \(record.topic)", of: pointer)
            }
            if DispatchTime.now().uptimeNanoseconds >= patienceEnd.load(ordering: .relaxed) { return .clientIsClosed }
            // Room comes from reports that were read; they are read on another thread meanwhile.
            reports.sync { Self.drain(queue, client, pending, appendTime, waitMilliseconds: 10) }
        }
    }

    /// Reads librdkafka's reports, on their own thread.
    private static func drain(
        _ queue: EventQueue, _ client: ClientHandle, _ pending: PendingDeliveries, _ appendTime: LatestAppendTime,
        waitMilliseconds: Int32 = 0
    ) {
        var wait = waitMilliseconds
        while let event = unsafe queue.poll(timeoutMilliseconds: wait) {
            wait = 0
            if unsafe rd_kafka_event_type(event) == RD_KAFKA_EVENT_DR {
                var isFirst = true
                pending.settle {
                    guard let message = unsafe rd_kafka_event_message_next(event) else { return nil }
                    if isFirst { unsafe appendTime.note(message) }
                    isFirst = false
                    let ticket = unsafe PendingDeliveries.Ticket(opaque: UInt(bitPattern: message.pointee._private))
                    let place = unsafe DeliveredPlace(
                        partition: message.pointee.partition, offset: message.pointee.offset)
                    let error = unsafe KafkaError(message.pointee.err, in: "delivering", of: client.pointer)
                    return (ticket, error, place.offset < 0 ? nil : place)
                }
            } else if let error = unsafe client.handle(common: event) {
                let level: Logger.Level = error.isFatal ? .error : error.code.isConnection ? .debug : .warning
                client.logger.log(
                    level: level, "the producer reports an error",
                    metadata: ["remint.event": "kafka.producer-error", "kafka.error": "\(error)"])
            }
            unsafe rd_kafka_event_destroy(event)
        }
    }
}

/// A topic the library is made to remember, and that records are produced to.
///
/// `@unchecked Sendable`: the pointer is never changed, and it is used on the client's own thread alone, where whatever comes
/// after the closing finds the client closed and leaves it alone. The closing, which waits in the same line, has it destroyed
/// once.
@safe
private struct TopicHandle: @unchecked Sendable {
    let pointer: OpaquePointer

    init?(pointer: OpaquePointer?) {
        guard let pointer = unsafe pointer else { return nil }
        unsafe self.pointer = unsafe pointer
    }

    func destroy() { unsafe rd_kafka_topic_destroy(pointer) }
}

/// Transactions (KIP-98, KIP-447). Each call may block for as long as the broker is away; it runs on the producer's own
/// thread, so records handed over before it are inside and records handed over after it are not.
extension KafkaProducer {
    /// Registers the `transactional.id` and ends a predecessor's open transaction. Called once, before the first
    /// transaction.
    package func initTransactions(within limit: Duration) async throws(KafkaError) {
        let milliseconds = limit.kafkaMilliseconds
        try unsafe await transactional("registering the transactional id") {
            unsafe rd_kafka_init_transactions($0, milliseconds)
        }
    }

    package func beginTransaction() async throws(KafkaError) {
        try unsafe await transactional("beginning a transaction") { unsafe rd_kafka_begin_transaction($0) }
    }

    /// Makes `offsets`, each the next record to read, part of the transaction, once per consumer group.
    ///
    /// - Throws: `KafkaError`; where it is retriable, the same call must be repeated with the same arguments.
    package func sendOffsets(
        _ offsets: [PartitionOffset], of group: ConsumerGroupMetadata, within limit: Duration
    ) async throws(KafkaError) {
        let milliseconds = limit.kafkaMilliseconds
        try unsafe await transactional("sending offsets to the transaction") { client in
            let list = PartitionList(offsets)
            return unsafe rd_kafka_send_offsets_to_transaction(client, list.pointer, group.pointer, milliseconds)
        }
    }

    /// Commits. Repeated while the error is retriable, it resumes.
    ///
    /// - Parameter limit: The timeout of one call; nil waits for as long as the brokers take. A commit that times out
    ///   continues in the library, and its error is retriable.
    package func commitTransaction(within limit: Duration? = nil) async throws(KafkaError) {
        let milliseconds = limit?.kafkaMilliseconds ?? -1
        try unsafe await transactional("committing the transaction") {
            unsafe rd_kafka_commit_transaction($0, milliseconds)
        }
    }

    /// Aborts. Repeated while the error is retriable, it resumes.
    ///
    /// - Parameter limit: as for `commitTransaction`.
    package func abortTransaction(within limit: Duration? = nil) async throws(KafkaError) {
        let milliseconds = limit?.kafkaMilliseconds ?? -1
        try unsafe await transactional("aborting the transaction") {
            unsafe rd_kafka_abort_transaction($0, milliseconds)
        }
    }

    /// Returns the topics that no transaction may write, as far as was found since the last call: the errors of records and
    /// calls do not name them.
    package func takeRefusals() -> Set<String> { client.takeRefusals() }

    private func transactional(
        _ operation: String, _ call: @escaping @Sendable (OpaquePointer) -> OpaquePointer?
    ) async throws(KafkaError) {
        try unsafe await client.blockingThrowing { (pointer) throws(KafkaError) in
            guard let error = unsafe KafkaError(taking: call(pointer), in: operation) else { return }
            // A call after the fatal error reports only that there was one, and not whether another producer took over.
            throw error.isFatal ? unsafe KafkaError(fatalOf: pointer, in: operation) ?? error : error
        }
    }
}
