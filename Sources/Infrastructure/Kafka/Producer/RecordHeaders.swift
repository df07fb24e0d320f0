import CRdKafka

/// Keys, values and headers on their way into librdkafka, which copies them.
enum RecordHeaders {
    /// Returns a header list that the producer takes over; nil for no headers.
    ///
    /// - Parameter start: The address of the body's bytes.
    static func make(_ body: RecordBody, _ start: UnsafeRawPointer) -> OpaquePointer? {
        var list: OpaquePointer?
        body.forEachHeader { name, value in
            if unsafe list == nil { unsafe list = rd_kafka_headers_new(Self.room) }
            _ = unsafe rd_kafka_header_add(
                list, (start + name.lowerBound).assumingMemoryBound(to: CChar.self), name.count,
                value.map { unsafe start + $0.lowerBound }, value?.count ?? 0)
        }
        return unsafe list
    }

    /// The initial capacity of a list of headers: a token has ten, and a trace adds two.
    private static let room = 12

    /// Calls `body` with a pointer to `bytes`. It is no null pointer for an empty array, because an empty value is not
    /// a missing one.
    static func withBytes<Result>(_ bytes: [UInt8], _ body: (UnsafeRawPointer) -> Result) -> Result {
        unsafe bytes.withUnsafeBytes { bytes in
            if let start = bytes.baseAddress { return unsafe body(start) }
            return unsafe withUnsafePointer(to: UInt8(0)) { unsafe body($0) }
        }
    }
}
