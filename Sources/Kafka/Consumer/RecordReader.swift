import CRdKafka

/// Copies a record out of librdkafka's memory, which the event frees.
enum RecordReader {
    static func read(_ message: UnsafePointer<rd_kafka_message_t>, topic: String) -> ConsumedRecord {
        var kind = RD_KAFKA_TIMESTAMP_NOT_AVAILABLE
        let timestamp = unsafe rd_kafka_message_timestamp(message, &kind)
        return unsafe ConsumedRecord(
            position: RecordPosition(
                topic: topic, partition: message.pointee.partition, offset: message.pointee.offset),
            timestamp: kind == RD_KAFKA_TIMESTAMP_NOT_AVAILABLE || timestamp < 0 ? nil : timestamp,
            key: bytes(message.pointee.key, message.pointee.key_len),
            value: bytes(message.pointee.payload, message.pointee.len),
            headers: headers(of: message))
    }

    private static func bytes(_ pointer: UnsafeMutableRawPointer?, _ count: Int) -> [UInt8]? {
        unsafe pointer.map { unsafe Array(UnsafeRawBufferPointer(start: $0, count: count)) }
    }

    private static func headers(of message: UnsafePointer<rd_kafka_message_t>) -> [RecordHeader] {
        var list: OpaquePointer?
        guard unsafe rd_kafka_message_headers(message, &list) == RD_KAFKA_RESP_ERR_NO_ERROR, let list = unsafe list
        else { return [] }
        var headers: [RecordHeader] = []
        unsafe headers.reserveCapacity(rd_kafka_header_cnt(list))
        var name: UnsafePointer<CChar>?
        var value: UnsafeRawPointer?
        var count = 0
        while unsafe rd_kafka_header_get_all(list, headers.count, &name, &value, &count) == RD_KAFKA_RESP_ERR_NO_ERROR,
            let name = unsafe name
        {
            unsafe headers.append(
                RecordHeader(
                    String(cString: name), value.map { unsafe Array(UnsafeRawBufferPointer(start: $0, count: count)) }))
        }
        return headers
    }
}
