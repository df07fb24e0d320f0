public import AdapterKit

/// A header of a record.
public struct Header: Sendable, Equatable {
    /// The name.
    public var name: String
    /// The bytes; nil for a null value.
    public var value: [UInt8]?

    /// The header `name` with `value`.
    public init(_ name: String, _ value: [UInt8]?) {
        self.name = name
        self.value = value
    }

    /// The header `name` with `text`.
    public init(_ name: String, _ text: String) { self.init(name, Array(text.utf8)) }

    /// The value as text; nil where it is null or not UTF-8.
    public var text: String? { value.flatMap { String(validating: $0, as: UTF8.self) } }
}

extension [Header] {
    /// The last value of `name`, which is the one that counts in Kafka.
    public func text(_ name: String) -> String? { last { $0.name == name }?.text }
}

/// Where an input record stood.
public struct Origin: Sendable, Hashable {
    /// The topic.
    public let topic: String
    /// The partition.
    public let partition: Int32
    /// The offset.
    public let offset: Int64

    /// The record at `offset` of `partition` of `topic`.
    public init(topic: String, partition: Int32, offset: Int64) {
        self.topic = topic
        self.partition = partition
        self.offset = offset
    }
}

/// A record as it comes in. It is handed on many times until it has ended, and never changed: a reference costs a fifth of a
/// copy of its parts.
public final class InputRecord: Sendable {
    /// Where it stood.
    public let origin: Origin
    /// When it was produced, where that is known.
    public let timestamp: UnixTime?
    /// Its key, value and headers.
    public let contents: RecordContents
    /// The lane it came on.
    public let lane: Lane
    /// Which retry tier it waited in, counted from the shortest; nil on the other lanes.
    public let tier: Int?

    /// A record with these contents.
    public init(
        origin: Origin, timestamp: UnixTime?, contents: RecordContents, lane: Lane = .live, tier: Int? = nil
    ) {
        self.lane = lane
        self.tier = tier
        self.origin = origin
        self.timestamp = timestamp
        self.contents = contents
    }

    /// A record with these parts.
    public convenience init(
        origin: Origin, timestamp: UnixTime?, key: [UInt8]?, value: [UInt8]?, headers: [Header], lane: Lane = .live,
        tier: Int? = nil
    ) {
        self.init(
            origin: origin, timestamp: timestamp, contents: RecordContents(key: key, value: value, headers: headers),
            lane: lane, tier: tier)
    }

    /// About how much memory it takes, in bytes.
    var memory: Int { contents.bytes.count + 256 }
    /// Its key.
    public var key: [UInt8]? { contents.key }
    /// Its value.
    public var value: [UInt8]? { contents.value }
    /// Its headers.
    public var headers: [Header] { contents.headers }
    /// The last value of a header, as text.
    func text(_ header: String) -> String? { contents.text(header) }
}

/// A record to publish.
public struct OutputRecord: Sendable, Equatable {
    /// What the record is; the worker knows the topic.
    public enum Destination: Sendable, Hashable {
        /// The token topic.
        case tokens
        /// The dead letters.
        case deadLetters
        /// A retry tier, counted from the shortest.
        case retries(tier: Int)
    }

    /// Where it goes.
    public let destination: Destination
    /// Its key, value and headers.
    public let contents: RecordContents

    /// A record for `destination` with these contents.
    public init(destination: Destination, contents: RecordContents) {
        self.destination = destination
        self.contents = contents
    }

    /// A record for `destination` with these parts.
    public init(destination: Destination, key: [UInt8]?, value: [UInt8]?, headers: [Header]) {
        self.init(destination: destination, contents: RecordContents(key: key, value: value, headers: headers))
    }

    /// Its key.
    public var key: [UInt8]? { contents.key }
    /// Its value.
    public var value: [UInt8]? { contents.value }
    /// Its headers.
    public var headers: [Header] { contents.headers }
}
