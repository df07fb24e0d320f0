import Formats
import Spans
import Telemetry
import Testing
import Tracing

@Suite("Spans on their way") struct SpanTests {
    private static let sampled = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    private static let time = UnixTime(seconds: 1_763_640_000)

    private func span(_ name: String, _ queue: SpanQueue) -> EndedSpan {
        EndedSpan(name, queue.context(below: nil), below: nil, from: Self.time, to: Self.time)
    }

    @Test func `a full queue counts the spans it drops`() {
        let queue = SpanQueue(capacity: 3)
        for name in ["a", "b", "c", "d", "e"] { queue.ended(span(name, queue)) }
        #expect(queue.count == 3)
        #expect(queue.takeDropped() == 2)
        #expect(queue.takeDropped() == 0)
        #expect(queue.take(2).map(\.name) == ["a", "b"])
        queue.ended(span("f", queue))
        #expect(queue.take(10).map(\.name) == ["c", "f"])
        #expect(queue.take(10).isEmpty)
    }

    // MARK: Contexts

    @Test func `a trace context is written as it was read`() throws {
        let context = try #require(TraceContext(traceparent: Self.sampled, tracestate: "a=1,b=2"))
        #expect(context.traceparent == Self.sampled)
        #expect(context.traceID == "4bf92f3577b34da6a3ce929d0e0e4736")
        #expect(context.spanID == "00f067aa0ba902b7")
        #expect(context.isSampled)
        #expect(context.state == "a=1,b=2")
    }

    @Test func `a child span has its parent's trace, flag and state, and an id of its own`() throws {
        let queue = SpanQueue()
        for flags in ["00", "01"] {
            let parent = try #require(
                TraceContext(traceparent: Self.sampled.dropLast(2) + flags, tracestate: "a=1"))
            let child = queue.context(below: parent)
            #expect(child.traceID == parent.traceID && child.spanID != parent.spanID)
            #expect(child.isSampled == parent.isSampled && child.state == "a=1")
            #expect(TraceContext(traceparent: child.traceparent, tracestate: "a=1") == child)
        }
        let roots = Set((0..<100).map { _ in queue.context(below: nil).traceID })
        #expect(roots.count == 100)
    }

    @Test(arguments: [
        "", "00", "00-1-2-01", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
        "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
        "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
        "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
        "00-4bf92f3577b34da6a3ce929d0e0e473-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-1",
        "00-4bf92f3577b34da6a3ce929d0e0e473é-00f067aa0ba902b7-01",
        "-00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    ])
    func `a string that is no trace context is refused`(_ text: String) {
        #expect(TraceContext(traceparent: text) == nil)
    }

    @Test func `a later version is read as far as the first goes, and a state that is too long is dropped`() throws {
        let later = try #require(TraceContext(traceparent: "cc" + Self.sampled.dropFirst(2) + "-more"))
        #expect(later.traceparent == Self.sampled)
        let long = String(repeating: "a", count: 513)
        #expect(TraceContext(traceparent: Self.sampled, tracestate: long)?.state.isEmpty == true)
    }

    // MARK: Libraries

    @Test func `a library's spans join the trace that they are in`() throws {
        let queue = SpanQueue()
        let tracer = SpanTracer(queue)
        var context = ServiceContext.topLevel
        tracer.extract(["traceparent": Self.sampled, "tracestate": "a=1"], into: &context, using: Carrier())
        let parent = try #require(context.trace)
        tracer.withSpan("outer", context: context, ofKind: .client) { outer in
            outer.attributes["n"] = 7
            outer.setStatus(SpanStatus(code: .error, message: "so"))
            tracer.withSpan("inner") { inner in
                inner.addLink(SpanLink(context: context, attributes: [:]))
                inner.recordError(TestError())
                #expect(inner.isRecording)
                var carrier: [String: String] = [:]
                tracer.inject(inner.context, into: &carrier, using: Carrier())
                #expect(carrier["traceparent"] == inner.context.trace?.traceparent)
                #expect(carrier["tracestate"] == "a=1")
            }
        }
        let spans = queue.take(10)
        #expect(spans.map(\.name) == ["inner", "outer"])
        #expect(spans[1].parent == parent && spans[0].parent == spans[1].context)
        #expect(spans[1].kind == .client && spans[1].status == .failed("so"))
        #expect(spans[1].attributes == [EndedSpan.Attribute("n", .integer(7))])
        #expect(spans[0].links == [parent])
        #expect(spans[0].events.map(\.name) == ["exception"])
        #expect(!"\(spans[0].events)".contains("hunter2"), "an error's own words are not kept")
    }

    @Test func `a library's span in a trace that nobody follows is not kept`() throws {
        let queue = SpanQueue()
        let tracer = SpanTracer(queue)
        var context = ServiceContext.topLevel
        context.trace = TraceContext(traceparent: Self.sampled.dropLast(2) + "00")
        tracer.withSpan("unseen", context: context) { span in
            #expect(!span.isRecording)
            #expect(span.context.trace?.traceID == context.trace?.traceID)
        }
        tracer.withSpan("root") { #expect($0.isRecording) }
        #expect(queue.take(10).map(\.name) == ["root"])
    }

    private struct TestError: Error, CustomStringConvertible { let description = "hunter2" }

    private struct Carrier: Extractor, Injector {
        func extract(key: String, from carrier: [String: String]) -> String? { carrier[key] }
        func inject(_ value: String, forKey key: String, into carrier: inout [String: String]) { carrier[key] = value }
    }
}
