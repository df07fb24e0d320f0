import AdapterKit
import Pipeline
import Testing

/// A record that is no event, and its error.
struct MalformedEvent: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let record: InputRecord
    let says: String

    init(_ name: String, _ record: InputRecord, says: String) {
        testDescription = name
        self.record = record
        self.says = says
    }
}

@Suite("Records that are no events")
struct MalformedEventTests {
    private static let report = SampleReport.braze()
    private static let structured = [RecordHeader("content-type", "application/cloudevents+json")]
    private static let binary = [RecordHeader("ce_specversion", "1.0"), RecordHeader("ce_app", "shop-ios")]

    static let records: [MalformedEvent] = [
        MalformedEvent(
            "an id of more than a kilobyte",
            .raw(report, app: "shop-ios", [RecordHeader("remint-id", String(repeating: "i", count: 1025))]),
            says: "1024 bytes"),
        MalformedEvent(
            "a device of more than a kilobyte",
            .raw(report, app: "shop-ios", [RecordHeader("remint-device", String(repeating: "d", count: 1025))]),
            says: "1024 bytes"),
        MalformedEvent("no value", .sample(nil, headers: binary), says: "no value"),
        MalformedEvent("an empty value", .sample([], headers: binary), says: "no value"),
        MalformedEvent("white space", .sample(" \n ", headers: binary), says: "empty"),
        MalformedEvent("a NUL", .sample([0], headers: binary), says: "byte 0"),
        MalformedEvent("nothing behind Confluent's prefix", .sample([0, 0, 0, 0, 7], headers: binary), says: "byte 0"),
        MalformedEvent(
            "Avro behind Confluent's prefix", .sample([0, 0, 0, 0, 7, 2, 6, 0x61, 0x62, 0x63], headers: binary),
            says: "not JSON"),
        MalformedEvent(
            "two of Confluent's prefixes", .sample([0, 0, 0, 0, 7, 0, 0, 0, 0, 7, 0x7B, 0x7D]), says: "not JSON"),
        MalformedEvent("a byte order mark", .sample([0xEF, 0xBB, 0xBF] + Array(report.utf8)), says: "byte 0"),
        MalformedEvent("truncated JSON", .sample(String(report.dropLast(3)), headers: binary), says: "not JSON"),
        MalformedEvent("two JSON texts", .sample(report + report, headers: binary), says: "not JSON"),
        MalformedEvent(
            "invalid UTF-8", .sample(Array("{\"a\":\"".utf8) + [0xC3, 0x28] + Array("\"}".utf8)), says: "UTF-8"),
        MalformedEvent("a lone surrogate", .sample(#"{"app":"\uD800","report":{}}"#), says: "not JSON"),
        MalformedEvent(
            "JSON 33 levels deep", .sample(String(repeating: "[", count: 33) + String(repeating: "]", count: 33)),
            says: "deeper"),
        MalformedEvent("a member twice", .sample(#"{"app":"a","report":{"b":1,"b":2}}"#), says: "twice"),
        MalformedEvent("an array", .sample("[\(report)]"), says: "not a JSON object"),
        MalformedEvent("a string", .sample("\"\(report.count)\""), says: "not a JSON object"),
        MalformedEvent("an envelope without a report", .sample(#"{"app":"shop-ios"}"#), says: "\"report\""),
        MalformedEvent("an app that is a number", .sample(#"{"app":7,"report":{}}"#), says: "\"app\" is not a string"),
        MalformedEvent(
            "an id that is a number", .sample(#"{"app":"a","id":7,"report":{}}"#), says: "\"id\" is not a string"),
        MalformedEvent(
            "a device that is an object", .sample(#"{"app":"a","device":{},"report":{}}"#), says: "\"device\""),
        MalformedEvent(
            "a structured CloudEvent that is an array", .sample("[]", headers: structured), says: "JSON object"),
        MalformedEvent(
            "a structured CloudEvent without a version", .sample(#"{"app":"a","data":{}}"#, headers: structured),
            says: "specversion"),
        MalformedEvent(
            "a structured CloudEvent of another version",
            .sample(#"{"specversion":"0.3","app":"a","data":{}}"#, headers: structured), says: "specversion"),
        MalformedEvent(
            "a version that is a number", .sample(#"{"specversion":1.0,"app":"a","data":{}}"#, headers: structured),
            says: "specversion"),
        MalformedEvent(
            "a structured CloudEvent without data", .sample(#"{"specversion":"1.0","app":"a"}"#, headers: structured),
            says: "\"data\""),
        MalformedEvent(
            "data_base64", .sample(#"{"specversion":"1.0","app":"a","data_base64":"e30="}"#, headers: structured),
            says: "data_base64"),
        MalformedEvent(
            "a binary CloudEvent of another version",
            .sample(report, headers: [RecordHeader("ce_specversion", "1.1"), RecordHeader("ce_app", "a")]),
            says: "specversion"),
        MalformedEvent(
            "a binary CloudEvent of an empty version",
            .sample(report, headers: [RecordHeader("ce_specversion", ""), RecordHeader("ce_app", "a")]),
            says: "specversion"),
    ]

    @Test(arguments: records)
    func `a malformed record is refused with the reason`(_ event: MalformedEvent) {
        let error = #expect(throws: Rejection.self) { try EventDecoder(maximumBytes: 1 << 20).decode(event.record) }
        #expect(error?.code == .malformedEvent)
        #expect(error?.detail.contains(event.says) == true, "\(error?.detail ?? "")")
    }

    @Test(arguments: records)
    func `a malformed record becomes a dead letter, byte for byte`(_ event: MalformedEvent) async throws {
        let settlement = try await TestBench().settle(event.record)
        #expect(settlement.outcome == .deadLettered(.malformedEvent))
        let output = try #require(settlement.output)
        #expect(output.value == event.record.value)
        #expect(output.values("remint-error-stage") == ["decode"])
    }

    /// `app` stands where another form has it, so this form has none.
    static let withoutApp: [MalformedEvent] = [
        MalformedEvent("an envelope without an app", .sample(#"{"report":{}}"#), says: "app"),
        MalformedEvent("an envelope whose app is null", .sample(#"{"app":null,"report":{}}"#), says: "app"),
        MalformedEvent("an envelope whose app is empty", .sample(#"{"app":"","report":{}}"#), says: "app"),
        MalformedEvent("the app inside the report", .sample(#"{"report":{"app":"shop-ios"}}"#), says: "app"),
        MalformedEvent(
            "the app in a header of another form",
            .sample(#"{"report":{}}"#, headers: [RecordHeader("ce_app", "shop-ios")]),
            says: "app"),
        MalformedEvent(
            "the app inside a CloudEvent's data",
            .sample(#"{"specversion":"1.0","data":{"app":"shop-ios"}}"#, headers: structured), says: "app"),
        MalformedEvent(
            "a binary CloudEvent without an app", .sample(report, headers: [RecordHeader("ce_specversion", "1.0")]),
            says: "app"),
        MalformedEvent(
            "a binary CloudEvent with the app inside the value",
            .sample(#"{"app":"shop-ios","report":{}}"#, headers: [RecordHeader("ce_specversion", "1.0")]), says: "app"),
        MalformedEvent("an empty header", .raw(report, app: ""), says: "app"),
    ]

    @Test(arguments: withoutApp)
    func `an event must name its app where its form has it`(_ event: MalformedEvent) async throws {
        let error = #expect(throws: Rejection.self) { try EventDecoder(maximumBytes: 1 << 20).decode(event.record) }
        #expect(error?.detail.contains(event.says) == true, "\(error?.detail ?? "")")
        let settlement = try await TestBench().settle(event.record)
        #expect(settlement.app == nil)
        #expect(settlement.outcome.name == "dead_lettered")
        #expect(settlement.output?.value == event.record.value)
    }

    @Test func `a form's header that is not text is refused as malformed`() {
        for name in ["remint-app", "ce_specversion", "content-type"] {
            let record = InputRecord.sample(Self.report, headers: [RecordHeader(name, [0xFF, 0xFE])])
            let error = #expect(throws: Rejection.self) { try EventDecoder(maximumBytes: 1 << 20).decode(record) }
            #expect(error?.code == .malformedEvent)
        }
    }
}
