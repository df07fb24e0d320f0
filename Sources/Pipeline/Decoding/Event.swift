public import AdapterKit

/// A report and its envelope: which app, when, which device.
public struct Event: Sendable {
    /// The app it is about.
    public let app: String
    /// The report, as the SDK shaped it.
    public let report: JSONValue
    /// The event's id: the producer's, or the record's coordinates.
    public let id: String
    /// When the failure was observed: as the producer says, or when the record was produced.
    public let observedAt: UnixTime?
    /// The device that reported it.
    public let device: String?
    /// `traceparent` and `tracestate`, passed through (W3C Trace Context).
    public let traceHeaders: [Header]
}
