public import Formats

/// A part of a trace that is over: what was done, when, and what it has to do with others.
public struct EndedSpan: Sendable, Equatable {
    /// Which side of an exchange it is, by OpenTelemetry's names.
    public enum Kind: Sendable {
        /// None: work of this process.
        case `internal`
        /// What was asked by somebody who waits.
        case server
        /// What somebody else was asked, and waited for.
        case client
        /// What was written for somebody who reads it later.
        case producer
        /// What was read that somebody wrote before.
        case consumer
    }

    /// What an attribute says.
    public enum Value: Sendable, Equatable {
        /// A text.
        case text(String)
        /// A whole number.
        case integer(Int64)
        /// A number.
        case number(Double)
        /// A truth.
        case bool(Bool)
        /// Several texts.
        case texts([String])
    }

    /// Something that is known of it.
    public struct Attribute: Sendable, Equatable {
        /// Its name.
        public let name: String
        /// Its value.
        public let value: Value

        /// The attribute `name` with `value`.
        public init(_ name: String, _ value: Value) {
            self.name = name
            self.value = value
        }
    }

    /// Something that happened meanwhile.
    public struct Event: Sendable, Equatable {
        /// What.
        public let name: String
        /// When.
        public let time: UnixTime
        /// What is known of it.
        public let attributes: [Attribute]

        /// `name` happened at `time`.
        public init(_ name: String, at time: UnixTime, attributes: [Attribute] = []) {
            self.name = name
            self.time = time
            self.attributes = attributes
        }
    }

    /// How it went.
    public enum Status: Sendable, Equatable {
        /// Nobody said.
        case unset
        /// Well.
        case ok
        /// It came to nothing; says why in a stable word or a line without secrets.
        case failed(String)
    }

    /// What was done: one of few names.
    public let name: String
    /// The span and its trace.
    public let context: TraceContext
    /// The span that it is part of; nil for one that began its trace.
    public let parent: TraceContext?
    /// Which side of an exchange it is.
    public let kind: Kind
    /// When it began.
    public let start: UnixTime
    /// When it ended; never before it began.
    public let end: UnixTime
    /// What is known of it.
    public let attributes: [Attribute]
    /// The spans of other traces, or of other parts of its own, that it has to do with.
    public let links: [TraceContext]
    /// What happened meanwhile.
    public let events: [Event]
    /// How it went.
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

/// Where the spans of a process go, and where their ids come from: whoever makes them needs neither chance nor a clock of its own.
public protocol SpanPort: Sendable {
    /// A new span's context: in the trace of `parent`, or, with nil, in one of its own.
    func context(below parent: TraceContext?) -> TraceContext
    /// A span is over. Whoever tells this never waits.
    func ended(_ span: EndedSpan)
}
