import CRdKafka
import Glibc

/// Copies a record out of librdkafka's memory, which the event frees.
enum RecordReader {
    static func read(_ message: UnsafePointer<rd_kafka_message_t>, topic: String) -> ConsumedRecord {
        var kind = RD_KAFKA_TIMESTAMP_NOT_AVAILABLE
        let timestamp = unsafe rd_kafka_message_timestamp(message, &kind)
        return unsafe ConsumedRecord(
            position: RecordPosition(
                topic: topic, partition: message.pointee.partition, offset: message.pointee.offset),
            timestamp: kind == RD_KAFKA_TIMESTAMP_NOT_AVAILABLE || timestamp < 0 ? nil : timestamp,
            body: body(of: message))
    }

    private static func body(of message: UnsafePointer<rd_kafka_message_t>) -> RecordBody {
        let value = unsafe message.pointee.payload.map {
            unsafe Array(UnsafeRawBufferPointer(start: $0, count: message.pointee.len))
        }
        let key = unsafe message.pointee.key.map {
            unsafe UnsafeRawBufferPointer(start: $0, count: message.pointee.key_len)
        }
        var head: [UInt8] = []
        var lengths: [RecordBody.HeaderLengths] = []
        var list: OpaquePointer?
        if unsafe rd_kafka_message_headers(message, &list) == RD_KAFKA_RESP_ERR_NO_ERROR, let list = unsafe list {
            unsafe lengths.reserveCapacity(rd_kafka_header_cnt(list))
            // A guess that is right for most: what is too little grows.
            unsafe head.reserveCapacity((key?.count ?? 0) + 48 * rd_kafka_header_cnt(list))
            if let key = unsafe key { unsafe head.append(contentsOf: key) }
            unsafe append(list, to: &head, &lengths)
        } else if let key = unsafe key {
            head = unsafe Array(key)
        }
        return unsafe RecordBody(
            value: value, head: head, keyLength: key.map { Int32(clamping: $0.count) } ?? -1,
            headerLengths: lengths)
    }

    private static func append(
        _ list: OpaquePointer, to head: inout [UInt8], _ lengths: inout [RecordBody.HeaderLengths]
    ) {
        var name: UnsafePointer<CChar>?
        var value: UnsafeRawPointer?
        var count = 0
        while unsafe rd_kafka_header_get_all(list, lengths.count, &name, &value, &count) == RD_KAFKA_RESP_ERR_NO_ERROR,
            let name = unsafe name
        {
            let nameCount = unsafe strlen(name)
            unsafe head.append(contentsOf: UnsafeRawBufferPointer(start: name, count: nameCount))
            if let value = unsafe value {
                unsafe head.append(contentsOf: UnsafeRawBufferPointer(start: value, count: count))
            }
            unsafe lengths.append((Int32(clamping: nameCount), value == nil ? -1 : Int32(clamping: count)))
        }
    }
}
