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
