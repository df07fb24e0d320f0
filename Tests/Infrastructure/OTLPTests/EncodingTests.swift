import Formats
import Spans
import Testing

@testable import OTLP

@Suite("The encoding for a collector") struct EncodingTests {
    private static let time = UnixTime(microseconds: 1_763_640_000_123_456)
    private let request = ExportRequest(resource: [EndedSpan.Attribute("service.name", .text("remint"))])

    private func context(_ span: String, state: String? = nil) throws -> TraceContext {
        try #require(
            TraceContext(traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-\(span)-01", tracestate: state))
    }

    private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    @Test func `a span is encoded as OTLP's JSON has it`() throws {
        let parent = try context("00f067aa0ba902b7")
        let span = EndedSpan(
            "process events", try context("0000000000000001", state: "a=1"), below: parent, kind: .consumer,
            from: Self.time, to: Self.time.advanced(byMicroseconds: 2),
            attributes: [
                .init("text", .text("é\"")), .init("integer", .integer(.max)), .init("number", .number(0.5)),
                .init("bool", .bool(true)), .init("texts", .texts(["a", "b"])),
            ],
            links: [try context("00000000000000ff")],
            events: [.init("exception", at: Self.time, attributes: [.init("exception.type", .text("E"))])],
            status: .failed("lookup_failed"))
        let expected = """
            {"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"remint"}}]},\
            "scopeSpans":[{"scope":{"name":"remint"},"spans":[{\
            "traceId":"4bf92f3577b34da6a3ce929d0e0e4736","spanId":"0000000000000001","traceState":"a=1",\
            "parentSpanId":"00f067aa0ba902b7","name":"process events","kind":5,\
            "startTimeUnixNano":"1763640000123456000","endTimeUnixNano":"1763640000123458000","attributes":[\
            {"key":"text","value":{"stringValue":"é\\""}},\
            {"key":"integer","value":{"intValue":"9223372036854775807"}},\
            {"key":"number","value":{"doubleValue":0.5}},{"key":"bool","value":{"boolValue":true}},\
            {"key":"texts","value":{"arrayValue":{"values":[{"stringValue":"a"},{"stringValue":"b"}]}}}],\
            "links":[{"traceId":"4bf92f3577b34da6a3ce929d0e0e4736","spanId":"00000000000000ff"}],\
            "events":[{"timeUnixNano":"1763640000123456000","name":"exception",\
            "attributes":[{"key":"exception.type","value":{"stringValue":"E"}}]}],\
            "status":{"message":"lookup_failed","code":2}}]}]}]}
            """
        #expect(text(request.json(of: [span])) == expected)
    }

    @Test func `absent members of a span are left out, and its end is never before its start`() throws {
        let span = EndedSpan(
            "sign", try context("0000000000000001"), below: nil, from: Self.time,
            to: Self.time.advanced(bySeconds: -1))
        #expect(span.end == Self.time)
        let json = text(request.json(of: [span]))
        for name in ["parentSpanId", "links", "events", "status", "traceState"] { #expect(!json.contains(name)) }
        #expect(json.contains(#""kind":1"#))
    }

    @Test(arguments: [(-1, "0"), (0, "0"), (1, "1000"), (Int64.max, "18446744073709551615")])
    func `moments stay within what OTLP has for them`(_ microseconds: Int64, _ nanoseconds: String) throws {
        let time = UnixTime(microseconds: microseconds)
        let span = EndedSpan("x", try context("0000000000000001"), below: nil, from: time, to: time)
        #expect(text(request.json(of: [span])).contains(#""startTimeUnixNano":"\#(nanoseconds)""#))
    }

    @Test(arguments: [(Double.nan, #""NaN""#), (.infinity, #""Infinity""#), (-.infinity, #""-Infinity""#), (0, "0.0")])
    func `a number that JSON has no digits for is a word`(_ value: Double, _ expected: String) {
        var json = JSONWriter()
        json.double(value)
        #expect(text(json.bytes) == expected)
    }
}
