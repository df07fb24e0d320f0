public import AdapterKit

/// A decoded record: its envelope, and a report or a request.
public struct Event: Sendable {
    /// The content of an event.
    public enum Body: Sendable {
        /// A device's report, unchanged.
        case report(JSONValue)
        /// A request for a new token by the edge or by an operator.
        case reissue(JSONValue)
    }

    /// The event's facts except its body.
    public let envelope: Envelope
    /// The device's report, or the edge's request.
    public let body: Body
    /// The user that the edge has authenticated, in the adapter's members; nil if the edge vouches for none.
    public let vouched: JSONValue?
}

/// The facts about an event except its body. They outlive the parsed JSON and do not refer to it. A class, because many
/// functions pass it on.
public final class Envelope: Sendable {
    /// The event's app.
    public let app: String
    /// The event's id: the producer's, or the record's coordinates.
    public let id: String
    /// The time of the failure, as stated by the producer, or the record's timestamp.
    public let observedAt: UnixTime?
    /// Whether the producer stated a time that is no RFC 3339 date-time. The record's timestamp is used instead.
    let hasUnreadableTime: Bool
    /// The device that reported the failure.
    public let device: String?
    /// Whether the event waited in a retry tier before, and so was counted.
    public let hasWaited: Bool
    /// The headers `traceparent` and `tracestate` for the published record (W3C Trace Context).
    public let traceHeaders: [RecordHeader]
    /// The event's origin and its hops.
    let provenance: Provenance
    /// The highest version of a token that the producer may have missed; nil for none. A newer token answers the event
    /// only if its version is higher.
    let unseen: Int64?

    /// The time at which the record was produced; nil if it is unknown.
    public var producedAt: UnixTime? { provenance.timestamp }
    /// The topic at which a worker first consumed the event; for a retry tier's record without an origin, the tier's
    /// topic.
    public var topic: String { provenance.origin.topic }
    /// Whether to count the time that nobody can read: once, before any retry tier.
    var countsUnreadableTime: Bool { hasUnreadableTime && !hasWaited }

    init(
        app: String, id: String, observedAt: UnixTime?, hasUnreadableTime: Bool, device: String?, hasWaited: Bool,
        traceHeaders: [RecordHeader], provenance: Provenance, unseen: Int64?
    ) {
        self.app = app
        self.id = id
        self.observedAt = observedAt
        self.hasUnreadableTime = hasUnreadableTime
        self.device = device
        self.hasWaited = hasWaited
        self.traceHeaders = traceHeaders
        self.provenance = provenance
        self.unseen = unseen
    }
}

/// The parts of an event that were read, for its settlement.
struct ReadEvent: Sendable {
    let envelope: Envelope
    /// The vendor's own name of the failure; nil until the report is read.
    var reason: String?
    /// The signer of the reported token; nil until the report is read, and for an event that was counted before.
    var signer: TokenSigner?
}
