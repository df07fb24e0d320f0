import Formats
public import Spans
import Synchronization
public import Tracing

/// The tracer of the process for libraries that use swift-distributed-tracing: their spans join the traces of the
/// process. It records every child of a sampled span, and every span that begins a trace of its own.
///
/// The pipeline does not use it: its spans are values with times of their own, and cost nothing for an event without a
/// trace.
public struct SpanTracer: Tracer {
    private let spans: any SpanPort

    /// Spans go to `spans` as they end.
    public init(_ spans: any SpanPort) { self.spans = spans }

    /// Begins a span below that of `context`, and sends it when it ends.
    public func startSpan<Instant: TracerInstant>(
        _ operationName: String, context: @autoclosure () -> ServiceContext, ofKind kind: SpanKind,
        at instant: @autoclosure () -> Instant, function: String, file fileID: String, line: UInt
    ) -> RecordedSpan {
        var context = context()
        let parent = context.trace
        let own = spans.context(below: parent)
        context.trace = own
        return RecordedSpan(
            operationName, context, own, below: parent, EndedSpan.Kind(kind), from: instant().nanosecondsSinceEpoch,
            to: own.isSampled ? spans : nil)
    }

    public func forceFlush() {}

    /// Reads the trace context of W3C from `carrier` into `context`.
    public func extract<Carrier, Extract: Extractor>(
        _ carrier: Carrier, into context: inout ServiceContext, using extractor: Extract
    ) where Extract.Carrier == Carrier {
        guard let parent = extractor.extract(key: "traceparent", from: carrier) else { return }
        let state = extractor.extract(key: "tracestate", from: carrier)
        guard let trace = TraceContext(traceparent: parent, tracestate: state) else { return }
        context.trace = trace
    }

    /// Writes the trace context of `context` into `carrier` as W3C's headers.
    public func inject<Carrier, Inject: Injector>(
        _ context: ServiceContext, into carrier: inout Carrier, using injector: Inject
    ) where Inject.Carrier == Carrier {
        guard let trace = context.trace else { return }
        injector.inject(trace.traceparent, forKey: "traceparent", into: &carrier)
        if !trace.state.isEmpty { injector.inject(trace.state, forKey: "tracestate", into: &carrier) }
    }
}

private enum TraceContextKey: ServiceContextKey {
    typealias Value = TraceContext
    static let nameOverride: String? = "remint.trace"
}

extension ServiceContext {
    /// The span that work in this context belongs to; nil for none.
    public var trace: TraceContext? {
        get { self[TraceContextKey.self] }
        set { self[TraceContextKey.self] = newValue }
    }
}

extension EndedSpan.Kind {
    fileprivate init(_ kind: SpanKind) {
        switch kind {
        case .server: self = .server
        case .client: self = .client
        case .producer: self = .producer
        case .consumer: self = .consumer
        default: self = .internal
        }
    }
}

/// A library's span that is under way. One that is not sampled has a context and keeps nothing.
public final class RecordedSpan: Tracing.Span {
    private struct State {
        var name: String
        var attributes = SpanAttributes()
        var links: [TraceContext] = []
        var events: [EndedSpan.Event] = []
        var status = EndedSpan.Status.unset
        var isOver = false
    }

    /// Further links are dropped without an error: nothing may grow without end.
    private static let mostLinks = 1000
    private static let mostEvents = 100
    public let context: ServiceContext
    private let own: TraceContext
    private let parent: TraceContext?
    private let kind: EndedSpan.Kind
    private let start: UInt64
    private let port: (any SpanPort)?
    private let state: Mutex<State>

    init(
        _ name: String, _ context: ServiceContext, _ own: TraceContext, below parent: TraceContext?,
        _ kind: EndedSpan.Kind, from start: UInt64, to port: (any SpanPort)?
    ) {
        self.context = context
        self.own = own
        self.parent = parent
        self.kind = kind
        self.start = start
        self.port = port
        state = Mutex(State(name: name))
    }

    /// Whether the span is sampled and not over; otherwise changes have no effect.
    public var isRecording: Bool { port != nil && !state.withLock { $0.isOver } }

    public var operationName: String {
        get { state.withLock { $0.name } }
        set { change { $0.name = newValue } }
    }

    public var attributes: SpanAttributes {
        get { state.withLock { $0.attributes } }
        set { change { $0.attributes = newValue } }
    }

    /// Sets the status. The message of an error is kept, so it must come from the program.
    public func setStatus(_ status: SpanStatus) {
        change { state in
            switch status.code {
            case .ok: state.status = .ok
            case .error: state.status = .failed(status.message ?? "")
            }
        }
    }

    /// Adds an event, up to the limit of events of a span; further ones are dropped.
    public func addEvent(_ event: SpanEvent) {
        change { state in
            guard state.events.count < Self.mostEvents else { return }
            let time = UnixTime(nanoseconds: event.nanosecondsSinceEpoch)
            state.events.append(EndedSpan.Event(event.name, at: time, attributes: event.attributes.recorded))
        }
    }

    /// Records that there was an error, and its type. The error's text may come from outside, and is not kept.
    public func recordError<Instant: TracerInstant>(
        _ error: any Error, attributes: SpanAttributes, at instant: @autoclosure () -> Instant
    ) {
        var attributes = attributes
        attributes.set("exception.type", value: .string("\(type(of: error))"))
        addEvent(SpanEvent(name: "exception", at: instant(), attributes: attributes))
    }

    /// Adds a link to another span, up to the limit of links; one without a trace is dropped.
    public func addLink(_ link: SpanLink) {
        guard let other = link.context.trace else { return }
        change { if $0.links.count < Self.mostLinks { $0.links.append(other) } }
    }

    /// Ends the span once and hands it to the port; a second call has no effect.
    public func end<Instant: TracerInstant>(at instant: @autoclosure () -> Instant) {
        guard let port else { return }
        let ended: State? = state.withLock { state in
            defer { state.isOver = true }
            return state.isOver ? nil : state
        }
        guard let ended else { return }
        port.ended(
            EndedSpan(
                ended.name, own, below: parent, kind: kind, from: UnixTime(nanoseconds: start),
                to: UnixTime(nanoseconds: instant().nanosecondsSinceEpoch), attributes: ended.attributes.recorded,
                links: ended.links, events: ended.events, status: ended.status))
    }

    private func change(_ change: (inout State) -> Void) {
        guard port != nil else { return }
        state.withLock { state in if !state.isOver { change(&state) } }
    }
}

extension UnixTime {
    fileprivate init(nanoseconds: UInt64) { self.init(microseconds: Int64(nanoseconds / 1000)) }
}

extension SpanAttributes {
    /// The attributes whose values `EndedSpan` can hold.
    fileprivate var recorded: [EndedSpan.Attribute] {
        var found: [EndedSpan.Attribute] = []
        forEach { name, attribute in
            guard let value = EndedSpan.Value(attribute) else { return }
            found.append(EndedSpan.Attribute(name, value))
        }
        return found
    }
}

extension EndedSpan.Value {
    fileprivate init?(_ attribute: SpanAttribute) {
        switch attribute {
        case .int32(let value): self = .integer(Int64(value))
        case .int64(let value): self = .integer(value)
        case .double(let value): self = .number(value)
        case .bool(let value): self = .bool(value)
        case .string(let value): self = .text(value)
        case .stringArray(let values): self = .texts(values)
        case .stringConvertible(let value): self = .text("\(value)")
        default: return nil
        }
    }
}
