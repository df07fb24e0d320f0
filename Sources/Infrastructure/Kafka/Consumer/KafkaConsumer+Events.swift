import CRdKafka
import Glibc
import Synchronization

/// The reading of a consumer's queue.
extension KafkaConsumer {
    /// Reads `starts`, each until `each` wants no more of its partition, or the partition ends: for a consumer that was made to read
    /// none yet.
    ///
    /// - Parameters:
    ///   - limit: the longest time for all of them.
    ///   - passesBatches: whether a partition is done at a record batch that cannot be unpacked, in place of an error.
    ///   - each: called with each record; returns whether more of its partition is wanted.
    /// - Throws: `KafkaError`; with the name of a partition where not everything came within `limit`, and where the task is canceled.
    package nonisolated func scan(
        _ starts: [PartitionOffset], within limit: Duration, passesBatches: Bool = false,
        _ each: (ConsumedRecord) -> Bool
    ) async throws(KafkaError) {
        let end = ContinuousClock.now + limit
        try await read(starts)
        var open = Set(starts.map(\.partition))
        while let first = open.first {
            guard .now < end, !Task.isCancelled else { throw .overdue("reading \(first), one of \(open.count) unread") }
            for event in await events(limit: 500, within: .milliseconds(200)) {
                switch event {
                case .record(let record):
                    let partition = TopicPartition(record.position)
                    if open.contains(partition), !each(record) { open.remove(partition) }
                case .endOfPartition(let partition, _): open.remove(partition)
                case .rebalance: break
                case .error(let error):
                    if passesBatches, let batch = error.batch {
                        open.remove(TopicPartition(batch))
                    } else if error.endsReading {
                        throw error
                    }
                }
            }
        }
    }

    func drain(_ queue: EventQueue, _ limit: Int) -> [Event] {
        var events = releaseHeld(limit: limit)
        var bytes = 0
        while events.count < limit, let event = unsafe queue.poll() {
            defer { unsafe rd_kafka_event_destroy(event) }
            switch unsafe rd_kafka_event_type(event) {
            case RD_KAFKA_EVENT_FETCH:
                let count = events.count
                unsafe appendRecords(of: event, to: &events)
                if !pausing.isEmpty { holdBack(&events, from: count) }
                bytes += promptFetch(after: events[count...])
                guard bytes < Self.mostBytes else {
                    // The queue signals only records that come while it is empty.
                    queue.wakeup.signal()
                    return events
                }
            case RD_KAFKA_EVENT_REBALANCE:
                owesAnswer = true
                events.append(.rebalance(unsafe rebalance(in: event)))
                return events
            default:
                guard let error = unsafe client.handle(common: event) else { continue }
                let notice = unsafe Self.notice(error, event)
                // Behind records that are held back or fetched again there is no end yet, and no batch is reached.
                if let partition = Self.partition(of: notice), isBehind(partition) { continue }
                events.append(notice)
            }
        }
        return events
    }

    /// Returns whether records of `partition` before those in the queue are yet to be returned.
    private func isBehind(_ partition: TopicPartition) -> Bool {
        paused.contains(partition) && !pausing.contains(partition)
            || held.contains { TopicPartition($0.position) == partition }
    }

    /// The bytes of records after which no more are returned together: a batch may have unpacked to far more, and each record is
    /// copied.
    private static let mostBytes = 8 << 20

    /// - Returns: the bytes of the records that were taken.
    private func promptFetch(after taken: ArraySlice<Event>) -> Int {
        let bytes = taken.reduce(0) { sum, event in
            if case .record(let record) = event { sum + record.body.bytes.count } else { sum }
        }
        guard prompt.isDue(after: taken.count, bytes: bytes) else { return bytes }
        let partitions = assignment.subtracting(paused)
        unsafe client.enqueue { [client, prompt] pointer in
            unsafe prompt.ask(pointer, about: client.isClosed ? [] : partitions)
        }
        return bytes
    }

    /// Returns the partition whose end or whose batch `notice` is about; nil for every other event.
    private static func partition(of notice: Event) -> TopicPartition? {
        switch notice {
        case .endOfPartition(let partition, _): partition
        case .error(let error): error.batch.map { TopicPartition($0) }
        case .record, .rebalance: nil
        }
    }

    /// Returns the event of an error. The end of a partition arrives as an error too.
    private static func notice(_ error: KafkaError, _ event: OpaquePointer) -> Event {
        guard error.code == .partitionEnd || error.code.isAboutBatch,
            let found = unsafe rd_kafka_event_topic_partition(event)
        else { return .error(error) }
        defer { unsafe rd_kafka_topic_partition_destroy(found) }
        let place = unsafe RecordPosition(
            topic: String(cString: found.pointee.topic), partition: found.pointee.partition,
            offset: found.pointee.offset)
        if error.code == .partitionEnd { return .endOfPartition(TopicPartition(place), at: place.offset) }
        return .error(place.offset < 0 ? error : error.of(batch: place))
    }

    private func appendRecords(of event: OpaquePointer, to events: inout [Event]) {
        while let message = unsafe rd_kafka_event_message_next(event) {
            if let error = unsafe KafkaError(message.pointee.err, in: "consuming") {
                unsafe events.append(Self.notice(error, event))
            } else {
                unsafe events.append(.record(RecordReader.read(message, topic: name(of: message))))
            }
        }
    }

    private func name(of message: UnsafePointer<rd_kafka_message_t>) -> String {
        guard let topic = unsafe message.pointee.rkt, let text = unsafe rd_kafka_topic_name(topic) else { return "" }
        let address = UInt(bitPattern: text)
        // Compared, for a handle that was freed may give its address to another topic.
        if let name = names[address], unsafe Self.isEqual(name, text) { return name }
        let name = unsafe String(cString: text)
        if topics.contains(name) { names[address] = name }
        return name
    }

    /// Returns whether both are equal. It makes no copy, which passing `name` to C would do for each record.
    private static func isEqual(_ name: String, _ text: UnsafePointer<CChar>) -> Bool {
        var name = name
        return name.withUTF8 { name in
            guard let start = name.baseAddress else { return unsafe text.pointee == 0 }
            return unsafe strncmp(start, text, name.count) == 0 && text[name.count] == 0
        }
    }

    private func rebalance(in event: OpaquePointer) -> Rebalance {
        let list = unsafe rd_kafka_event_topic_partition_list(event)
        let partitions = unsafe list.map { unsafe PartitionList.offsets(in: $0).map(\.partition) } ?? []
        let code = unsafe KafkaError.Code(rd_kafka_event_error(event))
        return Rebalance(code, partitions, assigned: assignment, isLost: isAssignmentLost)
    }
}

/// Copies a record out of librdkafka's memory, which the event frees.
enum RecordReader {
    static func read(_ message: UnsafePointer<rd_kafka_message_t>, topic: String) -> ConsumedRecord {
        var kind = RD_KAFKA_TIMESTAMP_NOT_AVAILABLE
        let timestamp = unsafe rd_kafka_message_timestamp(message, &kind)
        return unsafe ConsumedRecord(
            position: RecordPosition(
                topic: topic, partition: message.pointee.partition, offset: message.pointee.offset),
            timestamp: kind == RD_KAFKA_TIMESTAMP_NOT_AVAILABLE || timestamp < 0 ? nil : timestamp,
            isAppendTime: kind == RD_KAFKA_TIMESTAMP_LOG_APPEND_TIME,
            body: body(of: message))
    }

    private static func body(of message: UnsafePointer<rd_kafka_message_t>) -> RecordBody {
        let key = unsafe message.pointee.key.map {
            unsafe UnsafeRawBufferPointer(start: $0, count: message.pointee.key_len)
        }
        let value = unsafe message.pointee.payload.map {
            unsafe UnsafeRawBufferPointer(start: $0, count: message.pointee.len)
        }
        var list: OpaquePointer?
        _ = unsafe rd_kafka_message_headers(message, &list)
        var bytes: [UInt8] = []
        // A guess that is right for most headers: what is too little grows.
        let headersGuess = unsafe list.map { unsafe 64 * rd_kafka_header_cnt($0) } ?? 0
        unsafe bytes.reserveCapacity((key?.count ?? 0) + headersGuess + (value?.count ?? 0))
        if let key = unsafe key { unsafe bytes.append(contentsOf: key) }
        let headersStart = bytes.count
        if let list = unsafe list { unsafe append(list, to: &bytes) }
        let headersLength = bytes.count - headersStart
        if let value = unsafe value { unsafe bytes.append(contentsOf: value) }
        return RecordBody(
            bytes: bytes, keyLength: unsafe key == nil ? -1 : Int32(clamping: headersStart),
            headersLength: Int32(clamping: headersLength), hasValue: unsafe value != nil)
    }

    private static func append(_ list: OpaquePointer, to bytes: inout [UInt8]) {
        var name: UnsafePointer<CChar>?
        var value: UnsafeRawPointer?
        var count = 0
        var index = 0
        while unsafe rd_kafka_header_get_all(list, index, &name, &value, &count) == RD_KAFKA_RESP_ERR_NO_ERROR,
            let name = unsafe name
        {
            let nameCount = unsafe strlen(name)
            RecordBody.append(Int32(clamping: nameCount), to: &bytes)
            RecordBody.append(unsafe value == nil ? -1 : Int32(clamping: count), to: &bytes)
            unsafe bytes.append(contentsOf: UnsafeRawBufferPointer(start: name, count: nameCount))
            if let value = unsafe value {
                unsafe bytes.append(contentsOf: UnsafeRawBufferPointer(start: value, count: count))
            }
            index += 1
        }
    }
}

/// Makes librdkafka fetch again.
///
/// Before 2.2.0 a thread that has filled the local queue sleeps for up to a second, however fast the queue is emptied.
/// Any request to the broker wakes it. This one asks for the ends of the partitions; nobody needs the answer.
final class FetchPrompt: Sendable {
    /// The numbers of records taken, and of their bytes, each of which triggers a look.
    private let recordInterval: Int
    private let byteInterval: Int
    private let records = Atomic(0)
    private let bytes = Atomic(0)
    private let isUnderWay = Atomic(false)

    /// - Parameter properties: the consumer's: the local queue is full with `queued.min.messages` of a partition, or with
    ///   `queued.max.messages.kbytes` of all.
    init(_ properties: ClientProperties) {
        func half(_ name: String, _ standard: Int) -> Int {
            max(1, (properties[name].flatMap { Int($0) } ?? standard) / 2)
        }
        recordInterval = half("queued.min.messages", 100_000)
        // librdkafka takes no more than 2 GB here.
        byteInterval = min(half("queued.max.messages.kbytes", 65_536), 1 << 20) << 10
    }

    /// - Returns: whether it is time, after `count` more records of `size` bytes together were taken.
    func isDue(after count: Int, bytes size: Int) -> Bool {
        let isFull = records.wrappingAdd(count, ordering: .relaxed).newValue >= recordInterval
        let isHeavy = bytes.wrappingAdd(size, ordering: .relaxed).newValue >= byteInterval
        guard isFull || isHeavy, !isUnderWay.exchange(true, ordering: .acquiring) else { return false }
        records.store(0, ordering: .relaxed)
        bytes.store(0, ordering: .relaxed)
        return true
    }

    /// Asks the leaders of `partitions`; without partitions it asks nothing. On the client's own thread.
    func ask(_ client: OpaquePointer, about partitions: Set<TopicPartition>) {
        defer { isUnderWay.store(false, ordering: .releasing) }
        guard !partitions.isEmpty else { return }
        let list = PartitionList(partitions.map { PartitionOffset($0, offset: Int64(RD_KAFKA_OFFSET_END)) })
        // An error changes nothing: the thread was woken, or there is nothing to fetch from.
        _ = unsafe rd_kafka_offsets_for_times(client, list.pointer, 100)
    }
}
