public import Formats

/// A finished part of a trace: the work, its times, and its relations to other spans.
public struct EndedSpan: Sendable, Equatable {
    /// The side of an exchange that a span is, by OpenTelemetry's names.
    public enum Kind: Sendable {
        case `internal`
        /// A request of another process, which waits for this one's answer.
        case server
        /// A request to another process, for whose answer this one waits.
        case client
        case producer
        /// A record that another process wrote before, and that this one reads.
        case consumer
    }

    public enum Value: Sendable, Equatable {
        case text(String)
        case integer(Int64)
        case number(Double)
        case bool(Bool)
        case texts([String])
    }

    /// Something that is known of it.
    public struct Attribute: Sendable, Equatable {
        public let name: String
        public let value: Value

        /// The attribute `name` with `value`.
        public init(_ name: String, _ value: Value) {
            self.name = name
            self.value = value
        }
    }

    /// Something that happened meanwhile.
    public struct Event: Sendable, Equatable {
        public let name: String
        public let time: UnixTime
        /// The facts that are known of the event.
        public let attributes: [Attribute]

        /// `name` happened at `time`.
        public init(_ name: String, at time: UnixTime, attributes: [Attribute] = []) {
            self.name = name
            self.time = time
            self.attributes = attributes
        }
    }

    /// The result of the span's work.
    public enum Status: Sendable, Equatable {
        case unset
        case ok
        /// The work failed, for a reason in a stable word or a line without secrets.
        case failed(String)
    }

    /// The name of the work: one of few.
    public let name: String
    public let context: TraceContext
    /// The span that it is part of; nil for one that began its trace.
    public let parent: TraceContext?
    public let kind: Kind
    public let start: UnixTime
    /// The end; never before the beginning.
    public let end: UnixTime
    public let attributes: [Attribute]
    /// The spans of other traces, or of other parts of its own, that it has to do with.
    public let links: [TraceContext]
    public let events: [Event]
    public let status: Status

    /// A span from `start` to `end`.
    public init(
        _ name: String, _ context: TraceContext, below parent: TraceContext?, kind: Kind = .internal,
        from start: UnixTime, to end: UnixTime, attributes: [Attribute] = [], links: [TraceContext] = [],
        events: [Event] = [], status: Status = .unset
    ) {
        self.name = name
        self.context = context
        self.parent = parent
        self.kind = kind
        self.start = start
        self.end = max(start, end)
        self.attributes = attributes
        self.links = links
        self.events = events
        self.status = status
    }
}

/// The port that takes a process's spans, and the source of their ids. Code that makes spans needs neither chance nor a
/// clock of its own.
public protocol SpanPort: Sendable {
    /// Returns a new span's context: in the trace of `parent`; with nil, in one of its own.
    func context(below parent: TraceContext?) -> TraceContext
    /// Takes a finished span. The caller never waits.
    func ended(_ span: EndedSpan)
}
