import AdapterKit
import Records
public import Spans

/// The part of a trace that lies between an event's record and what is published for it. There is one for an event that somebody wants
/// to see, and it is the same through waits, aborts and whatever else the event goes through before it has ended.
public final class EventTrace: Sendable {
    /// From the moment the event was taken to the one its end is visible.
    public let context: TraceContext
    /// What the event came with; nil where its trace begins here.
    let parent: TraceContext?
    /// The span of publishing what answers the event, which whoever reads that goes on from.
    let publishing: TraceContext
    /// When the event was taken.
    let start: UnixTime
    private let port: any SpanPort

    init(below parent: TraceContext?, from start: UnixTime, to port: any SpanPort) {
        self.parent = parent
        self.start = start
        self.port = port
        context = port.context(below: parent)
        publishing = port.context(below: context)
    }

    /// The context that whatever is published for the event carries on.
    var headers: [RecordHeader] {
        let header = RecordHeader("traceparent", publishing.traceparent)
        return publishing.state.isEmpty ? [header] : [header, RecordHeader("tracestate", publishing.state)]
    }

    /// A part of the event's way that is over.
    func add(
        _ name: String, kind: EndedSpan.Kind = .internal, from start: UnixTime, to end: UnixTime,
        attributes: [EndedSpan.Attribute] = [], links: [TraceContext] = [], status: EndedSpan.Status = .unset
    ) {
        port.ended(
            EndedSpan(
                name, port.context(below: context), below: context, kind: kind, from: start, to: end,
                attributes: attributes, links: links, status: status))
    }

    /// What answers the event is visible.
    func published(
        to topic: String, from start: UnixTime, to end: UnixTime, linked other: TraceContext
    ) {
        port.ended(
            EndedSpan(
                "publish \(topic)", publishing, below: context, kind: .producer, from: start, to: end,
                attributes: EndedSpan.Attribute.messaging("send", topic), links: [other]))
    }

    /// The event has ended.
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
    /// What OpenTelemetry's conventions for messaging ask of a span that has to do with `topic`.
    static func messaging(_ operation: String, _ topic: String) -> [EndedSpan.Attribute] {
        [
            EndedSpan.Attribute("messaging.system", .text("kafka")),
            EndedSpan.Attribute("messaging.operation.type", .text(operation)),
            EndedSpan.Attribute("messaging.destination.name", .text(topic)),
        ]
    }

    /// And of one about the record at `position`.
    static func messaging(_ operation: String, _ position: RecordPosition) -> [EndedSpan.Attribute] {
        messaging(operation, position.topic) + [
            EndedSpan.Attribute("messaging.destination.partition.id", .text(String(position.partition))),
            EndedSpan.Attribute("messaging.kafka.offset", .integer(position.offset)),
        ]
    }
}
