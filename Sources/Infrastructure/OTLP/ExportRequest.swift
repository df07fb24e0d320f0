import Formats
import Spans

/// A request to a collector, as OTLP writes it in JSON: protobuf's JSON form, but with ids in hexadecimal digits and
/// 64-bit numbers as strings (OTLP 1.x, section "JSON Protobuf Encoding").
struct ExportRequest {
    let resource: [EndedSpan.Attribute]

    /// Returns the request that exports `spans`: `ExportTraceServiceRequest`.
    func json(of spans: [EndedSpan]) -> [UInt8] {
        var json = JSONWriter(capacity: 1 << 14)
        json.object { json in
            json.array("resourceSpans") { json in
                json.object { json in
                    json.name("resource")
                    json.object { $0.write(resource) }
                    json.array("scopeSpans") { json in
                        json.object { json in
                            json.name("scope")
                            json.object { $0.member("name", "remint") }
                            json.array("spans") { json in for span in spans { json.write(span) } }
                        }
                    }
                }
            }
        }
        return json.bytes
    }
}

extension JSONWriter {
    fileprivate mutating func object(_ write: (inout JSONWriter) -> Void) {
        beginObject()
        write(&self)
        endObject()
    }

    fileprivate mutating func array(_ name: String, _ write: (inout JSONWriter) -> Void) {
        self.name(name)
        beginArray()
        write(&self)
        endArray()
    }

    /// Writes a moment, in nanoseconds since 1970, and never before.
    private mutating func member(_ name: String, nanoseconds time: UnixTime) {
        let (nanoseconds, isTooMuch) = UInt64(max(0, time.microseconds)).multipliedReportingOverflow(by: 1000)
        member(name, String(isTooMuch ? .max : nanoseconds))
    }

    /// Writes a number; values without digits in JSON are written as words (protobuf's JSON form).
    mutating func double(_ value: Double) {
        if value.isNaN {
            string("NaN")
        } else if value.isInfinite {
            string(value < 0 ? "-Infinity" : "Infinity")
        } else {
            raw("\(value)")
        }
    }

    /// Writes the member `attributes`.
    fileprivate mutating func write(_ attributes: [EndedSpan.Attribute]) {
        array("attributes") { json in
            for attribute in attributes {
                json.object { json in
                    json.member("key", attribute.name)
                    json.name("value")
                    json.object { $0.write(attribute.value) }
                }
            }
        }
    }

    private mutating func write(_ value: EndedSpan.Value) {
        switch value {
        case .text(let text): member("stringValue", text)
        case .integer(let integer): member("intValue", String(integer))
        case .number(let number):
            name("doubleValue")
            double(number)
        case .bool(let isTrue):
            name("boolValue")
            bool(isTrue)
        case .texts(let texts):
            name("arrayValue")
            object { json in
                json.array("values") { json in
                    for text in texts { json.object { $0.member("stringValue", text) } }
                }
            }
        }
    }

    fileprivate mutating func write(_ span: EndedSpan) {
        object { json in
            json.write(span.context)
            if let parent = span.parent { json.member("parentSpanId", parent.spanID) }
            json.member("name", span.name)
            json.member("kind", span.kind.number)
            json.member("startTimeUnixNano", nanoseconds: span.start)
            json.member("endTimeUnixNano", nanoseconds: span.end)
            json.write(span.attributes)
            if !span.links.isEmpty {
                json.array("links") { json in for link in span.links { json.object { $0.write(link) } } }
            }
            if !span.events.isEmpty {
                json.array("events") { json in for event in span.events { json.write(event) } }
            }
            json.write(span.status)
        }
    }

    private mutating func write(_ context: TraceContext) {
        member("traceId", context.traceID)
        member("spanId", context.spanID)
        if !context.state.isEmpty { member("traceState", context.state) }
    }

    private mutating func write(_ event: EndedSpan.Event) {
        object { json in
            json.member("timeUnixNano", nanoseconds: event.time)
            json.member("name", event.name)
            json.write(event.attributes)
        }
    }

    private mutating func write(_ status: EndedSpan.Status) {
        switch status {
        case .unset: break
        case .ok:
            name("status")
            object { $0.member("code", 1) }
        case .failed(let why):
            name("status")
            object { json in
                if !why.isEmpty { json.member("message", why) }
                json.member("code", 2)
            }
        }
    }
}

extension EndedSpan.Kind {
    /// `SpanKind`.
    fileprivate var number: Int64 {
        switch self {
        case .internal: 1
        case .server: 2
        case .client: 3
        case .producer: 4
        case .consumer: 5
        }
    }
}
