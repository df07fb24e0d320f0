import AdapterKit
import Records
package import Spans

/// The trace context of a record (W3C Trace Context): in the headers that Kafka clients write, or in the attributes of
/// CloudEvents' Distributed Tracing extension.
///
/// Headers name the last sender and attributes the first one, so headers have precedence. Both parts come from the same
/// place.
package struct TraceCarrier: Sendable {
    /// The context's parts, as headers.
    package let headers: [RecordHeader]

    private static let names = ["traceparent", "tracestate"]

    /// Reads the headers of a record, of either kind.
    package init(_ body: RecordBody) {
        if body.has("traceparent") || body.has("tracestate") {
            headers = body.headers.filter { Self.names.contains($0.name) }
        } else if body.has("ce_traceparent") {
            headers = Self.names.compactMap { name in body.text("ce_" + name).map { RecordHeader(name, $0) } }
        } else {
            headers = []
        }
    }

    /// Reads the members of a structured CloudEvent.
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
