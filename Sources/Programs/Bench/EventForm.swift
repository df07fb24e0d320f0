import AdapterKit
package import Pipeline

/// The four forms of an event.
package enum EventForm: String, CaseIterable {
    case envelope
    case structured = "cloudevents structured"
    case binary = "cloudevents binary"
    case raw = "raw report"

    /// Returns a record with `report` about `app`.
    package func record(of report: [UInt8], app: String) -> InputRecord {
        let (value, headers) = parts(report, app)
        return InputRecord(
            origin: RecordPosition(topic: "remint.invalidations", partition: 3, offset: 4711),
            timestamp: UnixTime(seconds: 1_790_000_000), key: Array("user-4711".utf8), value: value, headers: headers)
    }

    private func parts(_ report: [UInt8], _ app: String) -> (value: [UInt8], headers: [RecordHeader]) {
        let id = "6f9c4f6e-6b5c-4c38-a9b6-5b7a5e1f0001", time = "2026-09-21T10:00:00.123Z", device = "device-1"
        let text = String(decoding: report, as: UTF8.self)
        switch self {
        case .envelope:
            let value =
                #"{"app":"\#(app)","id":"\#(id)","observed_at":"\#(time)","device":"\#(device)","report":\#(text)}"#
            return (Array(value.utf8), [])
        case .structured:
            let attributes = #""specversion":"1.0","id":"\#(id)","source":"/sdk","type":"sdk.auth.failed""#
            let value = #"{\#(attributes),"time":"\#(time)","subject":"\#(device)","app":"\#(app)","data":\#(text)}"#
            return (Array(value.utf8), [RecordHeader("content-type", "application/cloudevents+json; charset=UTF-8")])
        case .binary:
            return (
                report,
                [
                    RecordHeader("ce_specversion", "1.0"), RecordHeader("ce_id", id), RecordHeader("ce_source", "/sdk"),
                    RecordHeader("ce_type", "sdk.auth.failed"), RecordHeader("ce_time", time),
                    RecordHeader("ce_subject", device),
                    RecordHeader("ce_app", app), RecordHeader("content-type", "application/json"),
                ]
            )
        case .raw:
            return (
                report,
                [
                    RecordHeader("remint-app", app), RecordHeader("remint-id", id),
                    RecordHeader("remint-observed-at", time),
                    RecordHeader("remint-device", device),
                ]
            )
        }
    }
}
