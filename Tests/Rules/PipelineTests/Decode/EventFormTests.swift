import AdapterKit
import Pipeline
import Testing

@testable import Pipeline

/// One way to write an event, and what is read out of it.
struct EventForm: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let record: InputRecord
    var app = "shop-ios"
    var id = "remint.invalidations/3/7"
    var observedAt: UnixTime? = UnixTime(milliseconds: 1_763_639_999_500)
    var device: String?
    var trace: [String] = []

    init(
        _ name: String, _ record: InputRecord, app: String = "shop-ios", id: String = "remint.invalidations/3/7",
        observedAt: UnixTime? = UnixTime(milliseconds: 1_763_639_999_500), device: String? = nil, trace: [String] = []
    ) {
        testDescription = name
        self.record = record
        self.app = app
        self.id = id
        self.observedAt = observedAt
        self.device = device
        self.trace = trace
    }
}

@Suite("The four forms of an event")
struct EventFormTests {
    private static let report = SampleReport.braze()
    private static let observed = "2025-11-20T13:59:58.25+02:00"
    private static let observedAt = UnixTime(microseconds: 1_763_639_998_250_000)
    private static let trace = [
        RecordHeader("traceparent", "00-abc-def-01"), RecordHeader("tracestate", "a=1"),
        RecordHeader("traceparent", "2"),
    ]
    private static let structured = [RecordHeader("content-type", "application/cloudevents+json")]

    static let forms: [EventForm] = [
        EventForm("an envelope of what it must have", .sample(#"{"app":"shop-ios","report":\#(report)}"#)),
        EventForm(
            "an envelope with every member, in another order, with members nobody knows",
            .sample(
                #"{"x":[{}],"device":"d-1","observed_at":"\#(observed)","report":\#(report),"id":"e-1","app":"shop-ios"}"#
            ),
            id: "e-1", observedAt: observedAt, device: "d-1"),
        EventForm(
            "an envelope whose optional members are null",
            .sample(#"{"app":"shop-ios","id":null,"observed_at":null,"device":null,"report":\#(report)}"#)),
        EventForm(
            "an envelope whose id and device are empty",
            .sample(#"{"app":"shop-ios","id":"","device":"","report":\#(report)}"#)),
        EventForm(
            "an envelope in white space, of a record without time or key",
            .sample("\r\n\t {\"app\" : \"shop-ios\", \"report\" : \(report) } \n", key: nil, timestamp: nil),
            observedAt: nil),
        EventForm(
            "an envelope behind Confluent's wire format",
            .sample([0, 0, 0, 0, 42] + Array(#"{"app":"shop-ios","report":\#(report)}"#.utf8))),
        EventForm(
            "a raw report behind Confluent's wire format, whose schema's id looks like JSON",
            .sample(
                [0, 0x7B, 0x22, 0x7B, 0x7D] + Array(report.utf8), headers: [RecordHeader("remint-app", "shop-ios")])),
        EventForm(
            "an envelope with escapes", .sample(#"{"\u0061pp":"\u0073hop-ios","report":\#(report)}"#)),
        EventForm(
            "an envelope with a content type of its own",
            .sample(
                #"{"app":"shop-ios","report":\#(report)}"#, headers: [RecordHeader("content-type", "application/json")])
        ),
        EventForm(
            "a structured CloudEvent of what it must have",
            .sample(#"{"specversion":"1.0","app":"shop-ios","data":\#(report)}"#, headers: structured)),
        EventForm(
            "a structured CloudEvent with every attribute",
            .sample(
                #"{"specversion":"1.0","type":"t","source":"/s","id":"e-2","time":"\#(observed)","subject":"d-2","app":"shop-ios","datacontenttype":"application/json","data":\#(report)}"#,
                headers: structured), id: "e-2", observedAt: observedAt, device: "d-2"),
        EventForm(
            "a structured CloudEvent with a charset",
            .sample(
                #"{"specversion":"1.0","app":"shop-ios","data":\#(report)}"#,
                headers: [RecordHeader("content-type", "application/cloudevents+json; charset=UTF-8")])),
        EventForm(
            "a binary CloudEvent of what it must have",
            .sample(report, headers: [RecordHeader("ce_specversion", "1.0"), RecordHeader("ce_app", "shop-ios")])),
        EventForm(
            "a binary CloudEvent with every attribute",
            .sample(
                report,
                headers: [
                    RecordHeader("ce_specversion", "1.0"), RecordHeader("ce_app", "shop-ios"),
                    RecordHeader("ce_id", "e-3"),
                    RecordHeader("ce_type", "t"),
                    RecordHeader("ce_source", "/s"), RecordHeader("ce_time", observed),
                    RecordHeader("ce_subject", "d-3"),
                    RecordHeader("content-type", "application/json"), RecordHeader("remint-app", "shop-ios"),
                ]), id: "e-3", observedAt: observedAt, device: "d-3"),
        EventForm("a raw report", .raw(report, app: "shop-ios")),
        EventForm(
            "a raw report with every header it can have",
            .raw(
                report, app: "shop-ios",
                [
                    RecordHeader("remint-id", "e-4"), RecordHeader("remint-observed-at", observed),
                    RecordHeader("remint-device", "d-4"),
                ]),
            id: "e-4", observedAt: observedAt, device: "d-4"),
        EventForm(
            "a raw report with null headers",
            .raw(report, app: "shop-ios", [RecordHeader("remint-id", nil), RecordHeader("remint-device", nil)])),
        EventForm(
            "trace headers, in their order and number", .raw(report, app: "shop-ios", trace),
            trace: ["00-abc-def-01", "a=1", "2"]),
        EventForm(
            "a structured CloudEvent with the attributes of a trace",
            .sample(
                #"{"specversion":"1.0","app":"shop-ios","traceparent":"3","tracestate":"b=2","data":\#(report)}"#,
                headers: structured), trace: ["3", "b=2"]),
        EventForm(
            "a structured CloudEvent with a trace in its headers, which counts",
            .sample(
                #"{"specversion":"1.0","app":"shop-ios","traceparent":"3","tracestate":"b=2","data":\#(report)}"#,
                headers: structured + [RecordHeader("traceparent", "4")]), trace: ["4"]),
        EventForm(
            "a binary CloudEvent with the attributes of a trace",
            .sample(
                report,
                headers: [
                    RecordHeader("ce_specversion", "1.0"), RecordHeader("ce_app", "shop-ios"),
                    RecordHeader("ce_traceparent", "5"), RecordHeader("ce_tracestate", "c=3"),
                ]), trace: ["5", "c=3"]),
    ]

    @Test(arguments: forms)
    func `an event is decoded in each form`(_ form: EventForm) throws {
        let event = try EventDecoder(maximumBytes: 1 << 20).decode(form.record)
        #expect(event.envelope.app == form.app)
        #expect(event.envelope.id == form.id)
        #expect(event.envelope.observedAt == form.observedAt)
        #expect(event.envelope.device == form.device)
        #expect(event.envelope.traceHeaders.map(\.text) == form.trace)
        #expect(try event.report["userId"]?.string == "user-42")
        #expect(try event.report.json == Array(Self.report.utf8), "the report must be the SDK's bytes")
    }

    @Test(arguments: forms)
    func `a token is minted for each form of an event`(_ form: EventForm) async throws {
        let settlement = try await TestBench().settle(form.record)
        #expect(settlement.outcome == .minted)
        #expect(settlement.app == form.app)
        let output = try #require(settlement.output)
        #expect(try output.json["event_id"]?.string == form.id)
        #expect(try output.json["device"]?.string == form.device)
        #expect(output.values("ce_id") == [form.id])
        #expect(output.headers.suffix(form.trace.count).map(\.text) == form.trace)
    }

    @Test(arguments: [#""text""#, "7", "null", "[]", #"{"a":1}"#])
    func `any JSON is accepted as a report, in every form`(_ report: String) throws {
        let decoder = EventDecoder(maximumBytes: 1000)
        let records: [InputRecord] = [
            .sample(#"{"app":"a","report":\#(report)}"#),
            .sample(#"{"specversion":"1.0","app":"a","data":\#(report)}"#, headers: Self.structured),
            .sample(report, headers: [RecordHeader("ce_specversion", "1.0"), RecordHeader("ce_app", "a")]),
            .raw(report, app: "a"),
        ]
        for record in records { #expect(try decoder.decode(record).report.json == Array(report.utf8)) }
    }

    @Test func `a value of the largest size is read, and one byte more is refused`() throws {
        let record = InputRecord.raw(Self.report, app: "shop-ios")
        let count = Self.report.utf8.count
        #expect(throws: Never.self) { try EventDecoder(maximumBytes: count).decode(record) }
        let error = #expect(throws: Rejection.self) { try EventDecoder(maximumBytes: count - 1).decode(record) }
        #expect(error?.code == .eventTooLarge)
        #expect(error?.detail.contains("\(count - 1)") == true)
    }
}

/// One walk over all headers finds what a question for each of them finds.
@Suite("The headers of an event")
struct EventHeadersTests {
    private static func text(_ name: EventHeaders.Name) -> String { "\(name.text)" }

    private func agree(_ headers: [RecordHeader]) {
        let body = RecordBody(key: Array("key".utf8), value: Array("{}".utf8), headers: headers)
        let found = EventHeaders(body)
        for name in EventHeaders.Name.allCases {
            #expect(found.text(name) == body.text(Self.text(name)), "\(name)")
            #expect(found.has(name) == body.has(Self.text(name)), "\(name)")
            #expect(found.count(of: name) == body.count(of: Self.text(name)), "\(name)")
            for text in ["", "a", "ab"] {
                #expect(found.says(name, text) == body.says(Self.text(name), text), "\(name)")
            }
        }
    }

    @Test func `every header is found by its name alone`() {
        for name in EventHeaders.Name.allCases {
            agree([RecordHeader(Self.text(name), "a")])
            agree([RecordHeader(Self.text(name).uppercased(), "a"), RecordHeader(Self.text(name) + "x", "b")])
        }
        agree(EventHeaders.Name.allCases.map { RecordHeader(Self.text($0), "ab") })
    }

    @Test func `the last value of a header counts, whatever the others are`() {
        var random = SeededGenerator(seed: 8)
        let values: [[UInt8]?] = [nil, [], Array("a".utf8), Array("ab".utf8), [0xFF, 0xFE]]
        for _ in 0..<300 {
            agree(
                (0..<Int.random(in: 0...8, using: &random)).map { _ in
                    let name = EventHeaders.Name.allCases[Int.random(in: 0..<4, using: &random) * 5]
                    return RecordHeader(Self.text(name), values[Int.random(in: 0..<values.count, using: &random)])
                })
        }
    }
}

/// A stated time of the failure that is no RFC 3339 date-time is a side fact: the event counts without it.
@Suite struct UnreadableTimeTests {
    private static let report = SampleReport.braze()

    private static let envelopes = [
        "1763640000", "1763640000123", #""1763640000123""#, #""2025-11-20T12:00:00+0000""#, #""2025-11-20T12:00:00""#,
        #""2025-02-30T12:00:00Z""#, #""yesterday""#, #""""#, "{}", "true",
    ].map { InputRecord.sample(#"{"app":"shop-ios","observed_at":\#($0),"report":\#(report)}"#) }

    private static let otherForms: [InputRecord] = [
        .raw(report, app: "shop-ios", [RecordHeader("remint-observed-at", "now")]),
        .sample(
            report,
            headers: [
                RecordHeader("ce_specversion", "1.0"), RecordHeader("ce_app", "shop-ios"),
                RecordHeader("ce_time", "1763640000"),
            ]),
        .sample(
            #"{"specversion":"1.0","app":"shop-ios","time":1763640000,"data":\#(report)}"#,
            headers: [RecordHeader("content-type", "application/cloudevents+json")]),
    ]

    @Test(arguments: envelopes + otherForms)
    func `an event with an unreadable time has its record's timestamp`(_ record: InputRecord) throws {
        let event = try EventDecoder(maximumBytes: 1 << 20).decode(record)
        #expect(event.envelope.observedAt == UnixTime(milliseconds: 1_763_639_999_500))
    }

    @Test func `an unreadable time is counted beside a minted token`() async throws {
        for (time, isUnreadable) in [("1763640000123", true), ("null", false), (#""2025-11-20T12:00:00Z""#, false)] {
            let end = try await TestBench().settle(
                .sample(#"{"app":"shop-ios","observed_at":\#(time),"report":\#(Self.report)}"#))
            #expect(end.outcome == .minted)
            #expect(end.hasUnreadableTime == isUnreadable)
        }
    }
}
