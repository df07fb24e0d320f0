public import AdapterKit
@_exported public import Records

/// A consumed record. Immutable and a class, because many functions pass it on: a reference costs a fifth of a copy.
public final class InputRecord: Sendable {
    public let origin: RecordPosition
    /// The time at which the record was produced, if it is known.
    public let timestamp: UnixTime?
    public let body: RecordBody
    public let lane: Lane
    /// The retry tier, counted from the shortest; nil on the other lanes.
    public let tier: Int?
    /// The record's trace; nil if the event is not traced.
    public let trace: EventTrace?
    /// The batch that the record stands for; nil for a record that could be read.
    public let batch: UnreadableBatch?

    public init(
        origin: RecordPosition, timestamp: UnixTime?, body: RecordBody, lane: Lane = .live, tier: Int? = nil,
        trace: EventTrace? = nil
    ) {
        self.trace = trace
        batch = nil
        self.lane = lane
        self.tier = tier
        self.origin = origin
        self.timestamp = timestamp
        self.body = body
    }

    /// Creates the record that stands for `batch`. It has the batch's last position, so that the offset behind the batch is committed.
    public init(_ batch: UnreadableBatch, lane: Lane) {
        origin = batch.last
        (timestamp, tier, trace) = (nil, nil, nil)
        body = RecordBody(key: nil, value: nil, headers: [])
        self.lane = lane
        self.batch = batch
    }

    public convenience init(
        origin: RecordPosition, timestamp: UnixTime?, key: [UInt8]?, value: [UInt8]?, headers: [RecordHeader],
        lane: Lane = .live,
        tier: Int? = nil
    ) {
        self.init(
            origin: origin, timestamp: timestamp, body: RecordBody(key: key, value: value, headers: headers),
            lane: lane, tier: tier)
    }

    /// The approximate memory of the record, in bytes.
    var memory: Int { body.bytes.count + Self.overhead }
    /// The approximate bytes of an event beside its record: its place, its positions and its slots in the session.
    private static let overhead = 256
    public var key: [UInt8]? { body.key }
    public var value: [UInt8]? { body.value }
    public var headers: [RecordHeader] { body.headers }
    func text(_ header: String) -> String? { body.text(header) }
}

public struct OutputRecord: Sendable, Equatable {
    /// The kind of topic that the record goes to; the worker knows its name.
    public enum Destination: Sendable, Hashable {
        case tokens
        case deadLetters
        case retries(tier: Int)
    }

    public let destination: Destination
    public let body: RecordBody

    /// Creates a record for `destination` with this body.
    public init(destination: Destination, body: RecordBody) {
        self.destination = destination
        self.body = body
    }

    /// Creates a record for `destination` with these parts.
    public init(destination: Destination, key: [UInt8]?, value: [UInt8]?, headers: [RecordHeader]) {
        self.init(destination: destination, body: RecordBody(key: key, value: value, headers: headers))
    }

    public var key: [UInt8]? { body.key }
    public var value: [UInt8]? { body.value }
    public var headers: [RecordHeader] { body.headers }
}

/// A record batch that no consumer can unpack.
public final class UnreadableBatch: Sendable {
    public let first: RecordPosition
    /// The offset behind its last record.
    public let end: Int64
    private let reason: String

    /// - Parameter reason: the error of the consumer.
    public init(_ first: RecordPosition, end: Int64, reason: String) {
        self.first = first
        self.end = max(end, first.nextOffset)
        self.reason = reason
    }

    var last: RecordPosition { RecordPosition(topic: first.topic, partition: first.partition, offset: end - 1) }

    var rejection: Rejection {
        Rejection(.unreadableBatch, "the offsets \(first.offset) to \(end - 1) were passed: \(reason)")
    }
}

/// The source of an event, which determines its priority.
public enum Lane: String, Sendable, CaseIterable {
    case live
    case retries
    case bulk
}

public struct PerLane<Value: Sendable>: Sendable {
    private var live: Value
    private var retries: Value
    private var bulk: Value

    /// Creates the values with `value`.
    public init<Failure: Error>(_ value: (Lane) throws(Failure) -> Value) throws(Failure) {
        live = try value(.live)
        retries = try value(.retries)
        bulk = try value(.bulk)
    }

    /// Creates the values with an asynchronous `value`.
    public init<Failure: Error>(awaiting value: (Lane) async throws(Failure) -> Value) async throws(Failure) {
        live = try await value(.live)
        retries = try await value(.retries)
        bulk = try await value(.bulk)
    }

    /// The value for `lane`.
    public subscript(lane: Lane) -> Value {
        get {
            switch lane {
            case .live: live
            case .retries: retries
            case .bulk: bulk
            }
        }
        set {
            switch lane {
            case .live: live = newValue
            case .retries: retries = newValue
            case .bulk: bulk = newValue
            }
        }
        _modify {
            switch lane {
            case .live: yield &live
            case .retries: yield &retries
            case .bulk: yield &bulk
            }
        }
    }
}
