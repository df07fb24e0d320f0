import AdapterKit
import Spans

/// What many followed events have in common: a trace of its own that is linked with each of theirs.
struct SharedTrace: Sendable {
    private let port: any SpanPort
    private let name: String
    /// What the events have in common, for the parts of their own that are linked with it.
    let context: TraceContext
    private let events: [TraceContext]
    private let count: Int64
    private let start: UnixTime

    /// Nil where none of the events is followed.
    ///
    /// - Parameters:
    ///   - name: what is done with them.
    ///   - records: all of them.
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

    /// Some of them were signed together.
    func signed(_ records: some Sequence<InputRecord>, from start: UnixTime, to end: UnixTime) {
        let traces = records.compactMap(\.trace)
        guard !traces.isEmpty else { return }
        let signing = port.context(below: context)
        for trace in traces { trace.add("sign", from: start, to: end, links: [signing]) }
        port.ended(
            EndedSpan("sign", signing, below: context, from: start, to: end, links: traces.map(\.context)))
    }

    /// It is over.
    ///
    /// - Parameter failure: why it came to nothing; nil where it did not.
    func end(at time: UnixTime, failure: String? = nil) {
        port.ended(
            EndedSpan(
                name, context, below: nil, from: start, to: time,
                attributes: [EndedSpan.Attribute("messaging.batch.message_count", .integer(count))], links: events,
                status: failure.map { .failed($0) } ?? .unset))
    }
}
