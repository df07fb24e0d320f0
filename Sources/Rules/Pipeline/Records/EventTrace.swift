import AdapterKit
import Records
public import Spans

/// The spans between an event's record and its published output. Exists for traced events only. Stays the same through
/// waits and aborts until the event is settled.
public final class EventTrace: Sendable {
    /// The context of the event's own span, from its arrival until its settlement is visible.
    public let context: TraceContext
    /// The context that the event came with; nil if its trace begins here.
    let parent: TraceContext?
    /// The context of the span that publishes the output; readers of the output continue from it.
    let publishing: TraceContext
    /// The time at which the event was consumed.
    let start: UnixTime
    private let port: any SpanPort

    init(below parent: TraceContext?, from start: UnixTime, to port: any SpanPort) {
        self.parent = parent
        self.start = start
        self.port = port
        context = port.context(below: parent)
        publishing = port.context(below: context)
    }

    var headers: [RecordHeader] {
        let header = RecordHeader("traceparent", publishing.traceparent)
        return publishing.state.isEmpty ? [header] : [header, RecordHeader("tracestate", publishing.state)]
    }

    func add(
        _ name: String, kind: EndedSpan.Kind = .internal, from start: UnixTime, to end: UnixTime,
        attributes: [EndedSpan.Attribute] = [], links: [TraceContext] = [], status: EndedSpan.Status = .unset
    ) {
        port.ended(
            EndedSpan(
                name, port.context(below: context), below: context, kind: kind, from: start, to: end,
                attributes: attributes, links: links, status: status))
    }

    func published(
        to topic: String, from start: UnixTime, to end: UnixTime, linked other: TraceContext
    ) {
        port.ended(
            EndedSpan(
                "publish \(topic)", publishing, below: context, kind: .producer, from: start, to: end,
                attributes: EndedSpan.Attribute.messaging("send", topic), links: [other]))
    }

    /// Records the event's own span, at its end.
    func ended(
        _ name: String, at end: UnixTime, attributes: [EndedSpan.Attribute], status: EndedSpan.Status
    ) {
        port.ended(
            EndedSpan(
                name, context, below: parent, kind: .consumer, from: start, to: end, attributes: attributes,
                status: status))
    }
}

extension EndedSpan.Attribute {
    /// Returns the attributes of a span about `topic`, by OpenTelemetry's conventions for messaging.
    static func messaging(_ operation: String, _ topic: String) -> [EndedSpan.Attribute] {
        [
            EndedSpan.Attribute("messaging.system", .text("kafka")),
            EndedSpan.Attribute("messaging.operation.type", .text(operation)),
            EndedSpan.Attribute("messaging.destination.name", .text(topic)),
        ]
    }

    /// Returns the attributes of a span about the record at `position`.
    static func messaging(_ operation: String, _ position: RecordPosition) -> [EndedSpan.Attribute] {
        messaging(operation, position.topic) + [
            EndedSpan.Attribute("messaging.destination.partition.id", .text(String(position.partition))),
            EndedSpan.Attribute("messaging.kafka.offset", .integer(position.offset)),
        ]
    }
}
