import AdapterKit
import Foundation
import ProgramTestSupport
import Testing

/// A collector in Python that decodes what it is sent with OpenTelemetry's own messages, and prints each span in a
/// line.
struct TraceCollector {
    static let isMissing: Comment = "python3 has no module opentelemetry.proto; make setup-tests"

    /// The Python that has the module: the one of `make setup-tests`, or the system's.
    static let python: String? = [Repository.root.appending(path: ".build/tools/bin/python3").path, "python3"].first {
        PythonModules.areInstalled("opentelemetry.proto.collector.trace.v1.trace_service_pb2", for: $0)
    }

    struct Span {
        let name: String
        let trace: String
        let span: String
        let parent: String
        let kind: Int64
        let isFailed: Bool
        let start: Int64
        let end: Int64
        let attributes: [String: String]
        /// Trace and span of each.
        let links: [String]

        init(_ json: JSONValue) throws {
            func text(_ name: String) throws -> String { try #require(json[name]?.string) }
            (name, trace, span, parent) = (try text("name"), try text("trace"), try text("span"), try text("parent"))
            kind = try #require(json["kind"]?.integer)
            isFailed = json["status"]?.integer == 2
            start = try #require(Int64(text("start")))
            end = try #require(Int64(text("end")))
            let members = json["attributes"]?.members ?? []
            attributes = Dictionary(members.map { ($0.name, $0.value.string ?? "") }) { $1 }
            links = json["links"]?.elements.compactMap(\.string) ?? []
        }
    }

    let program: Program
    let endpoint: String

    /// Starts one that wants to see `authorization`.
    static func start(authorization: String) async throws -> TraceCollector {
        let program = try Program(try #require(python), ["-c", Self.script, authorization])
        try #require(await program.wrote("listening"), "\(program.errorText)")
        let match = try #require(program.errorText.firstMatch(of: /listening (\d+)/))
        return TraceCollector(program: program, endpoint: "http://127.0.0.1:\(match.1)")
    }

    var spans: [Span] {
        get throws {
            // What follows the last line's end is on its way.
            let lines = program.errorText.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
            return try lines.filter { $0.hasPrefix("{") }.map {
                try Span(JSONDocument(parsing: Array($0.utf8)).root)
            }
        }
    }

    /// Waits until a span called `name` came, in the trace `trace`.
    func wait(for name: String, in trace: String) async throws {
        try #require(await program.wrote(#""name": "\#(name)", "trace": "\#(trace)""#), "\(program.errorText)")
    }

    func stop() async {
        program.terminate()
        await program.waitForEnd()
    }

    private static let script = #"""
        import base64, http.server, json, sys
        from google.protobuf import json_format
        from opentelemetry.proto.collector.trace.v1 import trace_service_pb2

        def show(text):
            sys.stderr.write(text + "\n")
            sys.stderr.flush()

        # OTLP's JSON has ids in hexadecimal digits, protobuf's wants base64.
        lengths = {"traceId": 32, "spanId": 16, "parentSpanId": 16}
        def converted(value):
            if isinstance(value, list):
                return [converted(element) for element in value]
            if not isinstance(value, dict):
                return value
            result = {}
            for name, element in value.items():
                if name in lengths:
                    assert len(element) == lengths[name] and element == element.lower(), name
                    result[name] = base64.b64encode(bytes.fromhex(element)).decode()
                else:
                    result[name] = converted(element)
            return result

        def text(value):
            return str(getattr(value, value.WhichOneof("value")))

        def tell_span(span):
            assert len(span.trace_id) == 16 and len(span.span_id) == 8 and len(span.parent_span_id) in (0, 8)
            assert any(span.trace_id) and any(span.span_id)
            assert 0 < span.start_time_unix_nano <= span.end_time_unix_nano
            show(json.dumps({
                "name": span.name, "trace": span.trace_id.hex(), "span": span.span_id.hex(),
                "parent": span.parent_span_id.hex(), "kind": span.kind, "status": span.status.code,
                "start": str(span.start_time_unix_nano), "end": str(span.end_time_unix_nano),
                "attributes": {a.key: text(a.value) for a in span.attributes},
                "links": [l.trace_id.hex() + " " + l.span_id.hex() for l in span.links]}))

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                # A worker that ends cuts a request off, and sends what is in it again.
                length = int(self.headers["content-length"])
                received = self.rfile.read(length)
                if len(received) < length:
                    return
                try:
                    body = json.loads(received)
                    assert self.headers["content-type"] == "application/json"
                    assert self.headers["authorization"] == sys.argv[1]
                    assert self.path == "/v1/traces"
                    request = trace_service_pb2.ExportTraceServiceRequest()
                    json_format.Parse(json.dumps(converted(body)), request)
                    groups = request.resource_spans
                    for group in groups:
                        for scope in group.scope_spans:
                            for span in scope.spans:
                                tell_span(span)
                    for group in groups:
                        names = {a.key: text(a.value) for a in group.resource.attributes}
                        assert names["service.name"] == "remint" and names["service.instance.id"]
                    self.answer(200)
                except ConnectionError:
                    pass
                except Exception as error:
                    show(f"broken: {type(error).__name__}: {error}")
                    self.answer(400)

            def answer(self, status):
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", "2")
                self.end_headers()
                self.wfile.write(b"{}")

            protocol_version = "HTTP/1.1"
            def log_message(self, *arguments):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        show(f"listening {server.server_port}")
        server.serve_forever()
        """#
}
