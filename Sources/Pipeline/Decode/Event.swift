public import AdapterKit

/// What a record asks for: its envelope, and a report or a request beside it.
public struct Event: Sendable {
    /// What is asked for.
    public enum Body: Sendable {
        /// A device's report, as the SDK shaped it.
        case report(JSONValue)
        /// The edge's or an operator's request for a new token.
        case reissue(JSONValue)
    }

    /// What is known of the event besides its body.
    public let envelope: Envelope
    /// The device's words, or the edge's.
    public let body: Body
    /// Whom the edge has authenticated, in the adapter's members; nil where it says nothing.
    public let vouched: JSONValue?
}

/// The facts about an event besides its body. They outlive the reading and hold nothing of the parsed text. By reference, for they go
/// through many hands.
public final class Envelope: Sendable {
    /// The app it is about.
    public let app: String
    /// The event's id: the producer's, or the record's coordinates.
    public let id: String
    /// When the failure was observed: as the producer says, or when the record was produced.
    public let observedAt: UnixTime?
    /// The device that reported it.
    public let device: String?
    /// Whether it waited in a retry tier before, and so was counted.
    public let hasWaited: Bool
    /// `traceparent` and `tracestate`, which what is published carries on (W3C Trace Context).
    public let traceHeaders: [RecordHeader]
    /// The event's origin, and its hops since.
    let provenance: Provenance
    /// The highest version of a token that the producer may have missed; nil for a producer that misses none. A newer token
    /// answers the event only if its version is higher.
    let unseen: Int64?

    /// The moment the record was produced; nil where that is not known.
    public var producedAt: UnixTime? { provenance.timestamp }
    /// The topic that the event was first consumed from; of a retry tier's record without an origin, the tier's own.
    public var topic: String { provenance.origin.topic }

    init(
        app: String, id: String, observedAt: UnixTime?, device: String?, hasWaited: Bool, traceHeaders: [RecordHeader],
        provenance: Provenance, unseen: Int64?
    ) {
        self.app = app
        self.id = id
        self.observedAt = observedAt
        self.device = device
        self.hasWaited = hasWaited
        self.traceHeaders = traceHeaders
        self.provenance = provenance
        self.unseen = unseen
    }
}

/// An event as far as it was read, which its settlement tells of.
struct ReadEvent: Sendable {
    let envelope: Envelope
    /// The vendor's own name of the failure; nil until the report was read.
    var reason: String?
    /// The signer of the token that the report holds; nil until it was read, and for an event that was counted before.
    var signer: TokenSigner?
}
