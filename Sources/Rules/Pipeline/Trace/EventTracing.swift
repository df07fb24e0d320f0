public import AdapterKit
public import Records
public import Spans

/// Traces events from their records to their published outputs: events with a sampled context, and a share of the
/// events without a context.
public struct EventTracing: Sendable {
    let port: any SpanPort
    /// The share of the events without a context that begin a trace.
    private let share: Double
    private let limits: JSONDocument.Limits
    private let now: @Sendable () -> UnixTime

    /// Creates the tracing.
    ///
    /// - Parameters:
    ///   - port: the receiver of the spans.
    ///   - share: the share of the events without a context that begin a trace, from 0 to 1.
    ///   - maximumEventBytes: the size above which values are not parsed for a context.
    public init(
        to port: any SpanPort, share: Double = 0, maximumEventBytes: Int, now: @escaping @Sendable () -> UnixTime
    ) {
        self.port = port
        self.share = share
        limits = JSONDocument.Limits(bytes: maximumEventBytes, depth: 32)
        self.now = now
    }

    /// Returns the trace of a consumed event; nil if the event is not traced.
    ///
    /// - Parameters:
    ///   - produced: the time at which a retry tier's record was written.
    ///   - due: returns the end of that record's wait for the time at which it was consumed.
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
        // A tier's events are consumed before they are due, and wait in memory.
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

    /// Returns whether an event without a context begins a trace. The position decides, without a random number. So an
    /// event that is consumed again, by any worker, is traced again.
    private func isRoot(_ origin: RecordPosition) -> Bool {
        guard share > 0 else { return false }
        // The finalizer of SplitMix64 spreads neighbors over all integers.
        var mixed = UInt64(bitPattern: origin.offset) &+ UInt64(UInt32(bitPattern: origin.partition)) << 40
        mixed = mixed &+ 0x9E37_79B9_7F4A_7C15
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        mixed ^= mixed >> 31
        return Double(mixed >> 11) * 0x1p-53 < share
    }
}
