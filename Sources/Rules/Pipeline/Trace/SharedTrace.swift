import AdapterKit
import Spans

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
