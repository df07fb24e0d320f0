import AdapterKit
import Records
package import Spans

/// Where a record carries its trace context (W3C Trace Context): in the headers that Kafka clients write, or in the attributes of
/// CloudEvents' Distributed Tracing extension.
///
/// Headers say who handed the event on last and attributes where it began, so that headers count where there are both. The two parts
/// come from one place.
package struct TraceCarrier: Sendable {
    /// What is there, as headers.
    package let headers: [RecordHeader]

    private static let names = ["traceparent", "tracestate"]

    /// What the record's headers say, of either kind.
    package init(_ body: RecordBody) {
        if body.has("traceparent") || body.has("tracestate") {
            headers = body.headers.filter { Self.names.contains($0.name) }
        } else if body.has("ce_traceparent") {
            headers = Self.names.compactMap { name in body.text("ce_" + name).map { RecordHeader(name, $0) } }
        } else {
            headers = []
        }
    }

    /// What the members of a structured CloudEvent say.
    init(_ event: JSONValue) {
        headers = Self.names.compactMap { name in event[name]?.string.map { RecordHeader(name, $0) } }
    }

    /// The context; nil where there is none, or none that is as it should be.
    package var context: TraceContext? {
        headers.text("traceparent").flatMap { TraceContext(traceparent: $0, tracestate: headers.text("tracestate")) }
    }

    /// The trace's id, 32 hexadecimal digits in lower case (section 3.2); nil where there is no context, or none that is as it should
    /// be.
    package var traceID: String? { context?.traceID }
}
