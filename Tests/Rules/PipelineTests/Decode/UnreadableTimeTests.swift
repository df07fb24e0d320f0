import AdapterKit
import Pipeline
import Testing

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
