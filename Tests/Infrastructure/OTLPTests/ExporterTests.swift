import AdapterKit
import AsyncTestSupport
import Formats
import Logging
import Spans
import StubServer
import Synchronization
import Telemetry
import Testing

@testable import OTLP

@Suite("A collector and its troubles", .timeLimit(.minutes(5))) struct ExporterTests {
    /// A collector that keeps what it is sent.
    private final class Received: Sendable {
        private let requests = Mutex<[StubRequest]>([])

        var all: [StubRequest] { requests.withLock { $0 } }
        func add(_ request: StubRequest) { requests.withLock { $0.append(request) } }

        /// The names of the spans that came, in their order.
        var spans: [String] {
            get throws {
                try all.filter { $0.target == "/base/v1/traces" }.flatMap { request in
                    let root = try JSONDocument(parsing: request.body).root
                    let scope = root["resourceSpans"]?.elements.first?["scopeSpans"]?.elements.first
                    return scope?["spans"]?.elements.compactMap { $0["name"]?.string } ?? []
                }
            }
        }
    }

    private struct CollectorStub: VendorStub {
        let received: Received
        var answer = Array("{}".utf8)

        mutating func answer(_ request: StubRequest, at time: UnixTime) -> StubResponse {
            received.add(request)
            return StubResponse(status: 200, headers: [("content-type", "application/json")], body: answer)
        }
    }

    /// An exporter of `queue` in a task of its own.
    private struct Export {
        let received = Received()
        let registry = MetricsRegistry()
        let log = RecordingLog()
        let queue: SpanQueue
        let server: StubServer
        private let task: Task<Void, Never>

        init(
            _ spans: String..., capacity: Int = 100, answer: String = "{}", misbehaving: Misbehaviour = .none,
            for count: Int? = nil, timeout: Duration = .seconds(240), lastWord: Duration = .seconds(240)
        ) async throws {
            queue = SpanQueue(capacity: capacity)
            // Before it is looked at, so that it is known which of them fit.
            for name in spans { Self.end(name, queue) }
            server = try await StubServer.start(
                CollectorStub(received: received, answer: Array(answer.utf8)), now: { UnixTime(seconds: 1) })
            server.misbehave(misbehaving, for: count)
            let collector = try Collector(
                EndpointURL(parsing: "\(server.url)/base"), headers: [("x-secret", "hunter2")],
                certificateAuthority: nil, timeout: timeout)
            let exporter = Exporter(
                to: collector, queue: queue, metrics: ExportMetrics(registry), resource: { [] }, logger: log.logger(),
                now: { UnixTime(seconds: 1) }, lastWord: lastWord)
            task = Task.detached { await exporter.run() }
        }

        func end(_ name: String) { Self.end(name, queue) }

        private static func end(_ name: String, _ queue: SpanQueue) {
            let time = UnixTime(seconds: 1)
            queue.ended(EndedSpan(name, queue.context(below: nil), below: nil, from: time, to: time))
        }

        /// Ends it as a worker does.
        func stop() async {
            task.cancel()
            await task.value
            await server.stop()
        }

        func value(_ metric: String, _ label: String) -> Double {
            let line = registry.exposition().split(separator: "\n").first {
                $0.hasPrefix(metric) && $0.contains(label)
            }
            return line?.split(separator: " ").last.flatMap { Double($0) } ?? 0
        }
    }

    @Test func `spans come with the headers, and the rest comes at the end`() async throws {
        let export = try await Export()
        export.end("first")
        try await eventually("the first was taken") {
            export.value("remint_telemetry_requests_total", #"signal="traces",result="accepted""#) == 1
        }
        export.end("last")
        await export.stop()
        #expect(try export.received.spans == ["first", "last"])
        #expect(export.received.all.map(\.target) == ["/base/v1/traces", "/base/v1/traces"])
        for request in export.received.all {
            #expect(request.method == "POST")
            #expect(request.headers.contains { $0 == ("x-secret", "hunter2") })
            #expect(
                request.headers.contains { $0.name.lowercased() == "content-type" && $0.value == "application/json" })
        }
        #expect(export.log.lines.isEmpty)
    }

    @Test(arguments: [Misbehaviour.status(503), .throttled(retryAfter: 1), .reset, .hangUp, .garbage])
    func `spans that a collector does not accept are sent again, with one warning`(_ misbehaviour: Misbehaviour)
        async throws
    {
        let export = try await Export(misbehaving: misbehaviour, for: 2)
        export.end("stubborn")
        await export.log.line(event: "collector.available")
        await export.stop()
        #expect(try export.received.spans == ["stubborn"])
        #expect(export.value("remint_telemetry_requests_total", #"signal="traces",result="busy""#) == 2)
        #expect(export.value("remint_telemetry_requests_total", #"signal="traces",result="accepted""#) == 1)
        let trouble = export.log.lines.filter { $0.level == .warning }
        #expect(trouble.count == 1)
        #expect(!export.log.lines.contains { "\($0.metadata)".contains("hunter2") })
        #expect(trouble.first?.metadata["remint.detail"]?.contains("127.0.0.1") == true)
    }

    @Test(arguments: [400, 401, 404, 413, 500]) func `spans that a collector refuses are dropped and counted`(
        _ status: Int
    )
        async throws
    {
        let export = try await Export(misbehaving: .status(status), for: 1)
        export.end("unwanted")
        let line = await export.log.line { $0.level == .warning }
        #expect(line.metadata["remint.detail"]?.hasSuffix("answers with status \(status)") == true)
        await export.stop()
        #expect(try export.received.spans.isEmpty)
        #expect(export.value("remint_telemetry_dropped_spans_total", #"reason="refused""#) == 1)
    }

    @Test func `spans that a collector reports as rejected are counted`() async throws {
        let export = try await Export(
            "one", "two", answer: #"{"partialSuccess":{"rejectedSpans":"1","errorMessage":"no"}}"#)
        await export.stop()
        #expect(export.value("remint_telemetry_dropped_spans_total", #"reason="refused""#) == 1)
    }

    @Test func `a silent collector does not delay the end, and the spans left are counted`()
        async throws
    {
        let export = try await Export(
            "one", "two", "three", capacity: 2, misbehaving: .silence, timeout: .seconds(3600),
            lastWord: Exporter.standardLastWord)
        // The exporter gives up after two seconds. Without that, the request's own hour would outlast the suite's limit.
        await export.stop()
        #expect(export.value("remint_telemetry_dropped_spans_total", #"reason="queue_full""#) == 1)
        #expect(export.value("remint_telemetry_dropped_spans_total", #"reason="shutdown""#) == 2)
    }
}
