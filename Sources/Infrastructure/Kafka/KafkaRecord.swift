public import Records

/// A record as it was consumed.
public struct ConsumedRecord: Sendable {
    /// The position of the record.
    public let position: RecordPosition
    /// Milliseconds since 1970, as the producer or the broker set them; nil where neither did.
    public let timestamp: Int64?
    /// Key, value and headers.
    public let body: RecordBody

    /// The key; nil for none.
    public var key: [UInt8]? { body.key }
    /// The value; nil for none.
    public var value: [UInt8]? { body.value }
    /// The headers in order.
    public var headers: [RecordHeader] { body.headers }
}

/// A record to produce.
public struct ProducerRecord: Sendable {
    /// The topic.
    public let topic: String
    /// Key, value and headers. The key chooses the partition; none is any.
    public let body: RecordBody

    /// A record for `topic`.
    public init(topic: String, body: RecordBody) {
        self.topic = topic
        self.body = body
    }

    /// A record for `topic`; a nil value is a tombstone.
    public init(topic: String, key: [UInt8]?, value: [UInt8]?, headers: [RecordHeader] = []) {
        self.init(topic: topic, body: RecordBody(key: key, value: value, headers: headers))
    }

    /// The key; nil for none.
    public var key: [UInt8]? { body.key }
    /// The value; nil for a tombstone.
    public var value: [UInt8]? { body.value }
    /// The headers in order.
    public var headers: [RecordHeader] { body.headers }
}
