/// A header of a record. A name may stand several times.
public struct RecordHeader: Sendable, Equatable {
    /// The name.
    public var name: String
    /// The bytes; nil for a null value.
    public var value: [UInt8]?

    /// The header `name` with `value`.
    public init(_ name: String, _ value: [UInt8]?) {
        self.name = name
        self.value = value
    }
}

/// Where a record stands.
public struct RecordPosition: Sendable, Hashable {
    /// The topic.
    public var topic: String
    /// The partition.
    public var partition: Int32
    /// The offset.
    public var offset: Int64

    /// The record at `offset` of `partition` of `topic`.
    public init(topic: String, partition: Int32, offset: Int64) {
        self.topic = topic
        self.partition = partition
        self.offset = offset
    }
}

/// A partition of a topic.
public struct TopicPartition: Sendable, Hashable, CustomStringConvertible {
    /// The topic.
    public var topic: String
    /// The partition.
    public var partition: Int32

    /// `partition` of `topic`.
    public init(topic: String, partition: Int32) {
        self.topic = topic
        self.partition = partition
    }

    public var description: String { "\(topic)/\(partition)" }
}

/// A record's key, value and headers, as few pieces of memory as can be: millions of them come and go.
///
/// Key and headers stand in one stretch of bytes: the key, then each header's name and value. Who has such stretches already
/// hands them on as they are, in either direction.
public struct RecordBody: Sendable {
    /// How many bytes of a header's name and of its value follow one another; -1 for a null value.
    public typealias HeaderLengths = (name: Int32, value: Int32)

    /// The value; nil for none, which for a producer is a tombstone.
    public let value: [UInt8]?
    /// The key, then each header's name and value.
    public let head: [UInt8]
    /// How many bytes of `head` are the key; -1 where there is none.
    public let keyLength: Int32
    /// The headers in their order.
    public let headerLengths: [HeaderLengths]

    /// A body that was put together elsewhere. Lengths that reach beyond `head` end there.
    public init(value: [UInt8]?, head: [UInt8], keyLength: Int32, headerLengths: [HeaderLengths]) {
        self.value = value
        self.head = head
        self.keyLength = keyLength
        self.headerLengths = headerLengths
    }

    /// A body of these parts.
    public init(key: [UInt8]?, value: [UInt8]?, headers: [RecordHeader]) {
        var head = key ?? []
        var lengths: [HeaderLengths] = []
        for header in headers {
            head += header.name.utf8
            head += header.value ?? []
            lengths.append(
                (Int32(clamping: header.name.utf8.count), header.value.map { Int32(clamping: $0.count) } ?? -1))
        }
        self.init(
            value: value, head: head, keyLength: key.map { Int32(clamping: $0.count) } ?? -1, headerLengths: lengths)
    }

    /// The key; nil for none.
    public var key: [UInt8]? { keyPart.map { Array(head[$0]) } }

    /// The headers, each a copy.
    public var headers: [RecordHeader] {
        var headers: [RecordHeader] = []
        forEachHeader { name, value in
            headers.append(RecordHeader(String(decoding: head[name], as: UTF8.self), value.map { Array(head[$0]) }))
        }
        return headers
    }

    /// Where in `head` the key stands.
    var keyPart: Range<Int>? { keyLength < 0 ? nil : 0..<min(head.count, Int(keyLength)) }

    /// Calls `body` with the places in `head` of each header's name and value.
    func forEachHeader(_ body: (_ name: Range<Int>, _ value: Range<Int>?) -> Void) {
        var start = keyPart?.upperBound ?? 0
        for lengths in headerLengths {
            let nameEnd = min(head.count, start + Int(max(0, lengths.name)))
            let valueEnd = min(head.count, nameEnd + Int(max(0, lengths.value)))
            body(start..<nameEnd, lengths.value < 0 ? nil : nameEnd..<valueEnd)
            start = valueEnd
        }
    }
}

/// A record as it was consumed.
public struct ConsumedRecord: Sendable {
    /// Where it stood.
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
