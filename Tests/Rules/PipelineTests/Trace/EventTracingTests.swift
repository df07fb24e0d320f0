import AdapterKit
import Spans
import Synchronization
import Testing

@testable import Pipeline

@Suite("Events that are traced") struct EventTracingTests {
    private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    private static let sampled = "00-\(trace)-00f067aa0ba902b7-01"
    private static let unsampled = "00-\(trace)-00f067aa0ba902b7-00"
    private static let structured = RecordHeader("content-type", "Application/CloudEvents+JSON; charset=utf-8")

    private static func origin(_ offset: Int64 = 7) -> RecordPosition {
        RecordPosition(topic: "remint.invalidations", partition: 3, offset: offset)
    }

    private static func event(_ member: String, data: String = "{}") -> [UInt8] {
        Array(#"{"specversion":"1.0","app":"shop-ios",\#(member)"data":\#(data)}"#.utf8)
    }

    static let followed: [(headers: [RecordHeader], value: [UInt8])] = [
        ([RecordHeader("traceparent", sampled)], []),
        ([RecordHeader("a", "b"), RecordHeader("traceparent", sampled), RecordHeader("tracestate", "x=1")], []),
        ([RecordHeader("ce_traceparent", sampled)], []),
        ([RecordHeader("traceparent", sampled), RecordHeader("ce_traceparent", unsampled)], []),
        ([RecordHeader("ce_traceparent", unsampled), RecordHeader("traceparent", sampled)], []),
        ([RecordHeader("traceparent", unsampled), RecordHeader("traceparent", sampled)], []),
        ([RecordHeader("traceparent", "00-\(trace)-00f067aa0ba902b7-0b")], []),
        ([structured], event(#""traceparent" : "\#(sampled)","#)),
    ]

    static let passedOver: [(headers: [RecordHeader], value: [UInt8])] = [
        ([], []), ([RecordHeader("traceparent", unsampled)], []), ([RecordHeader("traceparent", nil as [UInt8]?)], []),
        ([RecordHeader("traceparent", "")], []), ([RecordHeader("traceparent", "00-1-2-01")], []),
        ([RecordHeader("traceparent", "00-\(trace)-00f067aa0ba902b7-0a")], []),
        ([RecordHeader("traceparent", "00-\(trace)-0000000000000000-01")], []),
        ([RecordHeader("traceparent", sampled), RecordHeader("traceparent", unsampled)], []),
        ([RecordHeader("traceparent", unsampled), RecordHeader("ce_traceparent", sampled)], []),
        ([RecordHeader("tracestate", "x=1")], []), ([structured], event("")),
        ([structured], event(#""traceparent":"\#(unsampled)","#)),
        // What is not the event's own, or no CloudEvent at all.
        ([structured], event("", data: #"{"traceparent":"\#(sampled)"}"#)),
        ([structured], Array(#""traceparent""#.utf8)),
        ([structured], Array(#"{"traceparent":"\#(sampled)""#.utf8)), ([], event(#""traceparent":"\#(sampled)","#)),
    ]

    private func begin(
        _ event: (headers: [RecordHeader], value: [UInt8]), _ port: RecordedSpans, share: Double = 0,
        lane: Lane = .live, offset: Int64 = 7
    ) -> EventTrace? {
        EventTracing(to: port, share: share, maximumEventBytes: 1 << 20, now: { TestBench.now }).begin(
            RecordBody(key: nil, value: event.value, headers: event.headers), at: Self.origin(offset), lane: lane,
            producedAt: TestBench.now.advanced(bySeconds: -10))
    }

    @Test(arguments: followed.indices) func `an event whose flag is set is traced`(_ index: Int) throws {
        let trace = try #require(begin(Self.followed[index], RecordedSpans()))
        #expect(trace.context.traceID == Self.trace)
        #expect(trace.parent?.spanID == "00f067aa0ba902b7")
    }

    @Test(arguments: passedOver.indices) func `an event without the flag is not traced, and costs no id`(_ index: Int) {
        let port = RecordedSpans()
        #expect(begin(Self.passedOver[index], port) == nil)
        #expect(port.contexts == 0 && port.all.isEmpty)
    }

    @Test func `a share of events without a context begins a trace, the same ones each time`() {
        let port = RecordedSpans()
        let chosen = (0..<10_000).filter { begin(([], []), port, share: 0.1, offset: $0) != nil }
        #expect((800...1200).contains(chosen.count), "\(chosen.count)")
        #expect(chosen == (0..<10_000).filter { begin(([], []), port, share: 0.1, offset: $0) != nil })
        #expect((0..<100).allSatisfy { begin(([], []), port, share: 1, offset: $0)?.parent == nil })
        let unsampled = [RecordHeader("traceparent", Self.unsampled)]
        #expect((0..<100).allSatisfy { begin((unsampled, []), port, share: 1, offset: $0) == nil })
        // What was not followed at first is not followed from its retry on.
        #expect((0..<100).allSatisfy { begin(([], []), port, share: 1, lane: .retries, offset: $0) == nil })
    }

    @Test(arguments: [(-5, 10), (0, 10), (20, 30)])
    func `a wait in a retry tier lasts until the event's moment, and the event begins then`(
        _ due: Int64, _ seconds: Int64
    ) throws {
        let port = RecordedSpans()
        let event = RecordBody(key: nil, value: nil, headers: Self.followed[0].headers)
        let tracing = EventTracing(to: port, maximumEventBytes: 1 << 20, now: { TestBench.now })
        let produced = TestBench.now.advanced(bySeconds: -10)
        let found = tracing.begin(event, at: Self.origin(), lane: .retries, producedAt: produced) {
            $0.advanced(bySeconds: due)
        }
        let trace = try #require(found)
        let wait = try #require(port.all.first)
        #expect(port.all.count == 1 && wait.name == "retry remint.invalidations" && wait.parent == trace.parent)
        #expect(wait.end == trace.start && wait.end == TestBench.now.advanced(bySeconds: max(0, due)))
        #expect(wait.end.microseconds(since: wait.start) == seconds * 1_000_000)
    }
}

/// A span port for tests: ids are the same on every run, and every span is kept.
final class RecordedSpans: SpanPort {
    private struct State {
        var random = SeededGenerator(seed: 11)
        var contexts = 0
        var spans: [EndedSpan] = []
    }

    private let state = Mutex(State())

    /// The number of ids requested.
    var contexts: Int { state.withLock { $0.contexts } }
    var all: [EndedSpan] { state.withLock { $0.spans } }

    func named(_ name: String) -> [EndedSpan] { all.filter { $0.name == name } }

    func context(below parent: TraceContext?) -> TraceContext {
        state.withLock { state in
            state.contexts += 1
            return parent?.child(using: &state.random) ?? .root(using: &state.random)
        }
    }

    func ended(_ span: EndedSpan) { state.withLock { $0.spans.append(span) } }
}
