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

/// The trace context of a record (W3C Trace Context): in the headers that Kafka clients write, or in the attributes of
/// CloudEvents' Distributed Tracing extension.
///
/// Headers name the last sender and attributes the first one, so headers have precedence. Both parts come from the same
/// place.
package struct TraceCarrier: Sendable {
    package let headers: [RecordHeader]

    private static let names = ["traceparent", "tracestate"]

    package init(_ body: RecordBody) {
        if body.has("traceparent") || body.has("tracestate") {
            headers = body.headers.filter { Self.names.contains($0.name) }
        } else if body.has("ce_traceparent") {
            headers = Self.names.compactMap { name in body.text("ce_" + name).map { RecordHeader(name, $0) } }
        } else {
            headers = []
        }
    }

    init(_ event: JSONValue) {
        headers = Self.names.compactMap { name in event[name]?.string.map { RecordHeader(name, $0) } }
    }

    /// The context; nil if it is missing or invalid.
    package var context: TraceContext? {
        headers.text("traceparent").flatMap { TraceContext(traceparent: $0, tracestate: headers.text("tracestate")) }
    }

    /// The trace id, 32 lowercase hexadecimal digits (section 3.2); nil if the context is missing or invalid.
    package var traceID: String? { context?.traceID }
}

/// The sampled flag of an event's trace context, read without an allocation: most events are not sampled, and every
/// event is checked.
private enum SampledFlag {
    case absent
    /// The event has a context that is sampled, or may be sampled.
    case set
    case clear

    /// Reads the flag from the headers of `body`. Without them, reads the members of a structured CloudEvent.
    init(in body: RecordBody) {
        var found: Range<Int>?
        var isHeader = false
        var isStructured = false
        body.forEachHeader { name, value in
            guard let value else { return }
            if Self.isEqual(body.bytes, name, "traceparent") {
                (found, isHeader) = (value, true)
            } else if !isHeader, Self.isEqual(body.bytes, name, "ce_traceparent") {
                found = value
            } else if Self.isEqual(body.bytes, name, "content-type") {
                isStructured = Self.hasPrefix(body.bytes, value, "application/cloudevents+json")
            }
        }
        if found == nil, isStructured, let value = body.valuePart { found = Self.member(in: body.bytes, value) }
        self = found.map { Self.flag(in: body.bytes, $0) } ?? .absent
    }

    /// Returns the place of the value of the first member `traceparent` in `value`, at any depth. `EventTracing` parses
    /// the member's context only for a sampled event.
    private static func member(in bytes: [UInt8], _ value: Range<Int>) -> Range<Int>? {
        let name: StaticString = "\"traceparent\""
        let length = name.utf8CodeUnitCount
        guard value.count > length else { return nil }
        for start in value.lowerBound..<(value.upperBound - length)
        where bytes[start] == UInt8(ascii: "\"") && isEqual(bytes, start..<(start + length), name) {
            var place = start + length
            while place < value.upperBound, " \t\r\n:".utf8.contains(bytes[place]) { place += 1 }
            return min(place + 1, value.upperBound)..<value.upperBound
        }
        return nil
    }

    /// Reads the flag: the last digit of the flags, the 55th character (W3C Trace Context, section 3.2.2), is odd if it
    /// is set.
    private static func flag(in bytes: [UInt8], _ text: Range<Int>) -> SampledFlag {
        guard text.count >= 55 else { return .absent }
        let digit = bytes[text.lowerBound + 54]
        // The bytes of 0 to 9 have the parity of their digits; those of a to f have the opposite one.
        let isOdd = digit >= UInt8(ascii: "a") ? digit % 2 == 0 : digit % 2 == 1
        return isOdd ? .set : .clear
    }

    private static func isEqual(_ bytes: [UInt8], _ part: Range<Int>, _ text: StaticString) -> Bool {
        part.count == text.utf8CodeUnitCount && hasPrefix(bytes, part, text)
    }

    /// Returns whether `part` begins with `text`, which is lowercase. Media types are case-insensitive (RFC 9110,
    /// section 8.3.1). No other header differs from the compared names in case only.
    private static func hasPrefix(_ bytes: [UInt8], _ part: Range<Int>, _ text: StaticString) -> Bool {
        guard part.count >= text.utf8CodeUnitCount else { return false }
        return text.withUTF8Buffer { wanted in
            for index in wanted.indices where bytes[part.lowerBound + index] | 0x20 != wanted[index] | 0x20 {
                return false
            }
            return true
        }
    }
}

/// The trace of work on many events at once, with links to the trace of each event.
struct SharedTrace: Sendable {
    private let port: any SpanPort
    private let name: String
    /// The context of the shared span, for links from the events' own spans.
    let context: TraceContext
    private let events: [TraceContext]
    private let count: Int64
    private let start: UnixTime

    /// Creates a shared trace; nil if no event is traced.
    ///
    /// - Parameters:
    ///   - name: the name of the work.
    ///   - records: all records of the work.
    init?(_ name: String, of records: some Sequence<InputRecord>, to port: (any SpanPort)?, from start: UnixTime) {
        guard let port else { return nil }
        var count: Int64 = 0
        var events: [TraceContext] = []
        for record in records {
            count += 1
            if let trace = record.trace { events.append(trace.context) }
        }
        guard !events.isEmpty else { return nil }
        self.port = port
        self.name = name
        self.events = events
        self.count = count
        self.start = start
        context = port.context(below: nil)
    }

    /// Records the span of some events that were signed together.
    func signed(_ records: some Sequence<InputRecord>, from start: UnixTime, to end: UnixTime) {
        let traces = records.compactMap(\.trace)
        guard !traces.isEmpty else { return }
        let signing = port.context(below: context)
        for trace in traces { trace.add("sign", from: start, to: end, links: [signing]) }
        port.ended(
            EndedSpan("sign", signing, below: context, from: start, to: end, links: traces.map(\.context)))
    }

    /// Records the shared span, at its end.
    ///
    /// - Parameter failure: the reason for a failure; nil for success.
    func end(at time: UnixTime, failure: String? = nil) {
        port.ended(
            EndedSpan(
                name, context, below: nil, from: start, to: time,
                attributes: [EndedSpan.Attribute("messaging.batch.message_count", .integer(count))], links: events,
                status: failure.map { .failed($0) } ?? .unset))
    }
}
