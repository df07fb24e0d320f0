public import Spans
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

    /// Spans are handed on as they end.
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
