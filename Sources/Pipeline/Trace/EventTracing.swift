public import AdapterKit
public import Records
public import Spans

/// Follows events from their records to what is published for them: those whose context says that somebody follows them already, and
/// a share of those that carry none.
public struct EventTracing: Sendable {
    let port: any SpanPort
    /// How many of the events without a context begin a trace.
    private let share: Double
    private let limits: JSONDocument.Limits
    private let now: @Sendable () -> UnixTime

    /// - Parameters:
    ///   - port: where the spans go.
    ///   - share: how many of the events without a context begin a trace, from 0 to 1.
    ///   - maximumEventBytes: larger values are not looked into.
    public init(
        to port: any SpanPort, share: Double = 0, maximumEventBytes: Int, now: @escaping @Sendable () -> UnixTime
    ) {
        self.port = port
        self.share = share
        limits = JSONDocument.Limits(bytes: maximumEventBytes, depth: 32)
        self.now = now
    }

    /// The trace of an event that was just taken; nil where nobody follows it.
    ///
    /// - Parameters:
    ///   - produced: when its record was written, for one that comes from a retry tier.
    ///   - due: until when that one waits, given the time it was taken at.
    public func begin(
        _ body: RecordBody, at origin: RecordPosition, lane: Lane, producedAt produced: UnixTime? = nil,
        due: (UnixTime) -> UnixTime = { $0 }
    ) -> EventTrace? {
        let parent: TraceContext?
        switch SampledFlag(in: body) {
        case .clear: return nil
        case .absent: parent = nil
        case .set: parent = context(in: body)
        }
        guard parent.map(\.isSampled) ?? (lane != .retries && isRoot(origin)) else { return nil }
        // Events of a tier are taken before their moment and wait at hand.
        var time = now()
        if lane == .retries { time = max(time, due(time)) }
        if lane == .retries, let parent {
            let wait = EndedSpan(
                "retry \(origin.topic)", port.context(below: parent), below: parent, from: min(produced ?? time, time),
                to: time, attributes: EndedSpan.Attribute.messaging("receive", origin))
            port.ended(wait)
        }
        return EventTrace(below: parent, from: time, to: port)
    }

    private func context(in body: RecordBody) -> TraceContext? {
        let carrier = TraceCarrier(body)
        guard carrier.headers.isEmpty else { return carrier.context }
        guard let value = body.valuePart, value.count <= limits.bytes,
            let event = try? JSONDocument(parsing: body.bytes, in: value, limits: limits).root
        else { return nil }
        return TraceCarrier(event).context
    }

    /// Whether an event without a context begins a trace. Where it stands decides, so that it costs no chance, and so that an event that
    /// is taken again, by whomever, is followed again.
    private func isRoot(_ origin: RecordPosition) -> Bool {
        guard share > 0 else { return false }
        // The finalizer of SplitMix64 spreads neighbours over all numbers.
        var mixed = UInt64(bitPattern: origin.offset) &+ UInt64(UInt32(bitPattern: origin.partition)) << 40
        mixed = mixed &+ 0x9E37_79B9_7F4A_7C15
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        mixed ^= mixed >> 31
        return Double(mixed >> 11) * 0x1p-53 < share
    }
}
