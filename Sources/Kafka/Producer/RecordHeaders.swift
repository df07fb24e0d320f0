import CRdKafka

/// Keys, values and headers on their way into librdkafka, which copies them.
enum RecordHeaders {
    /// A header list the producer takes over; nil for no headers.
    ///
    /// - Parameter head: the bytes of the body's `head`.
    static func make(_ body: RecordBody, _ head: UnsafeRawBufferPointer) -> OpaquePointer? {
        guard !body.headerLengths.isEmpty, let list = unsafe rd_kafka_headers_new(body.headerLengths.count) else {
            return nil
        }
        body.forEachHeader { name, value in
            guard let start = head.baseAddress else { return }
            _ = unsafe rd_kafka_header_add(
                list, (start + name.lowerBound).assumingMemoryBound(to: CChar.self), name.count,
                value.map { unsafe start + $0.lowerBound }, value?.count ?? 0)
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
