import CRdKafka

/// Keys, values and headers on their way into librdkafka, which copies them.
enum RecordHeaders {
    /// A header list the producer takes over; nil for no headers.
    static func make(_ headers: [RecordHeader]) -> OpaquePointer? {
        guard !headers.isEmpty, let list = unsafe rd_kafka_headers_new(headers.count) else { return nil }
        for header in headers {
            unsafe withBytes(header.value) { value, count in
                _ = unsafe rd_kafka_header_add(list, header.name, -1, value, count)
            }
        }
        return unsafe list
    }

    /// nil stays a null pointer; an empty array does not become one, for an empty value is not a missing one.
    static func withBytes<Result>(_ bytes: [UInt8]?, _ body: (UnsafeRawPointer?, Int) -> Result) -> Result {
        guard let bytes else { return body(nil, 0) }
        if bytes.isEmpty { return unsafe withUnsafePointer(to: UInt8(0)) { unsafe body($0, 0) } }
        return unsafe bytes.withUnsafeBytes { unsafe body($0.baseAddress, $0.count) }
    }
}
