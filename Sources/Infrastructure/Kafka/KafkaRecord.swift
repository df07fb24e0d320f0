import CRdKafka
// Whoever produces or consumes works with records and their places.
@_exported public import Records

package struct ConsumedRecord: Sendable {
    package let position: RecordPosition
    /// Milliseconds since 1970, as the producer or the broker set them; nil where neither did.
    package let timestamp: Int64?
    /// Whether a broker set the timestamp (`LogAppendTime`), and not the producer.
    package let isAppendTime: Bool
    /// Key, value and headers.
    package let body: RecordBody

    /// The key; nil for none.
    package var key: [UInt8]? { body.key }
    /// The value; nil for none.
    package var value: [UInt8]? { body.value }
    /// The headers in order.
    package var headers: [RecordHeader] { body.headers }
}

package struct RecordTime: Sendable, Equatable {
    /// Milliseconds since 1970.
    package let milliseconds: Int64
    /// Whether a broker set the time, and not the producer.
    package let isAppendTime: Bool

    /// A time that a broker or a producer set.
    package init(milliseconds: Int64, isAppendTime: Bool) {
        self.milliseconds = milliseconds
        self.isAppendTime = isAppendTime
    }

    /// The time of `record`; nil where it has none.
    package init?(_ record: ConsumedRecord) {
        guard let timestamp = record.timestamp else { return nil }
        self.init(milliseconds: timestamp, isAppendTime: record.isAppendTime)
    }
}

/// The time that a broker gave a record of a producer, of a topic with `LogAppendTime`: the broker's own clock.
package struct AppendTime: Sendable, Equatable {
    /// Milliseconds since 1970.
    package let milliseconds: Int64
    /// The moment at which the producer read the broker's answer.
    package let readAt: ContinuousClock.Instant

    /// A time of a broker, read at `readAt`.
    package init(milliseconds: Int64, readAt: ContinuousClock.Instant) {
        self.milliseconds = milliseconds
        self.readAt = readAt
    }
}

package struct ProducerRecord: Sendable {
    package let topic: String
    /// Key, value and headers. The key chooses the partition; none is any.
    package let body: RecordBody

    /// A record for `topic`.
    package init(topic: String, body: RecordBody) {
        self.topic = topic
        self.body = body
    }

    /// A record for `topic`; a nil value is a tombstone.
    package init(topic: String, key: [UInt8]?, value: [UInt8]?, headers: [RecordHeader] = []) {
        self.init(topic: topic, body: RecordBody(key: key, value: value, headers: headers))
    }

    /// The key; nil for none.
    package var key: [UInt8]? { body.key }
    /// The value; nil for a tombstone.
    package var value: [UInt8]? { body.value }
    /// The headers in order.
    package var headers: [RecordHeader] { body.headers }
}

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
