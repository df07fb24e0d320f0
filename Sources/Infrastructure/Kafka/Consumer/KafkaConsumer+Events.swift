import CRdKafka
import Glibc

/// The reading of a consumer's queue.
extension KafkaConsumer {
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
