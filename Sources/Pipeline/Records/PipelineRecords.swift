public import AdapterKit
public import Records

/// A record as it comes in. It is handed on many times until it has ended, and never changed: a reference costs a fifth of a
/// copy of its parts.
public final class InputRecord: Sendable {
    /// Where it stood.
    public let origin: RecordPosition
    /// When it was produced, where that is known.
    public let timestamp: UnixTime?
    /// Its key, value and headers.
    public let body: RecordBody
    /// The lane it came on.
    public let lane: Lane
    /// Which retry tier it waited in, counted from the shortest; nil on the other lanes.
    public let tier: Int?
    /// What follows it; nil where nobody wants to see it.
    public let trace: EventTrace?

    /// A record with this body.
    public init(
        origin: RecordPosition, timestamp: UnixTime?, body: RecordBody, lane: Lane = .live, tier: Int? = nil,
        trace: EventTrace? = nil
    ) {
        self.trace = trace
        self.lane = lane
        self.tier = tier
        self.origin = origin
        self.timestamp = timestamp
        self.body = body
    }

    /// A record with these parts.
    public convenience init(
        origin: RecordPosition, timestamp: UnixTime?, key: [UInt8]?, value: [UInt8]?, headers: [RecordHeader],
        lane: Lane = .live,
        tier: Int? = nil
    ) {
        self.init(
            origin: origin, timestamp: timestamp, body: RecordBody(key: key, value: value, headers: headers),
            lane: lane, tier: tier)
    }

    /// About how much memory it takes, in bytes.
    var memory: Int { body.bytes.count + Self.overhead }
    /// About the bytes of an event beside its record: its place, its positions and its slots in the session.
    private static let overhead = 256
    /// Its key.
    public var key: [UInt8]? { body.key }
    /// Its value.
    public var value: [UInt8]? { body.value }
    /// Its headers.
    public var headers: [RecordHeader] { body.headers }
    /// The last value of a header, as text.
    func text(_ header: String) -> String? { body.text(header) }
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
    public let body: RecordBody

    /// A record for `destination` with this body.
    public init(destination: Destination, body: RecordBody) {
        self.destination = destination
        self.body = body
    }

    /// A record for `destination` with these parts.
    public init(destination: Destination, key: [UInt8]?, value: [UInt8]?, headers: [RecordHeader]) {
        self.init(destination: destination, body: RecordBody(key: key, value: value, headers: headers))
    }

    /// Its key.
    public var key: [UInt8]? { body.key }
    /// Its value.
    public var value: [UInt8]? { body.value }
    /// Its headers.
    public var headers: [RecordHeader] { body.headers }
}
