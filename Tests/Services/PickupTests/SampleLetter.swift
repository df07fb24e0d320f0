import AdapterKit
import Pipeline
import Testing

@testable import Pickup

/// A dead letter of an event that a gateway sent for `shop-a/ann`, or one that differs from it.
struct SampleLetter: Sendable, CustomTestStringConvertible {
    static let key = Array("shop-a/ann".utf8)
    static let now = UnixTime(seconds: 1_800_000_000)

    var id = "e-1"
    var app = "shop-a"
    var recordKey: [UInt8]? = Self.key
    var topic = "a.failures"
    var code = "user_gone"
    var failedAt = "2027-01-15T07:59:00Z"

    static func awaited(_ id: String) -> AwaitedEvent {
        AwaitedEvent(id: id, key: key, app: "shop-a", topic: "a.failures")
    }

    static let position = RecordPosition(topic: "remint.dead-letters", partition: 0, offset: 0)

    var record: RecordBody {
        let headers = [
            RecordHeader("ce_specversion", "1.0"), RecordHeader("ce_id", id), RecordHeader("ce_app", app),
            RecordHeader("ce_type", "remint.report.v1"), RecordHeader(HopHeaders.code, code),
            RecordHeader(HopHeaders.stage, "resolve"), RecordHeader(HopHeaders.detail, "gone"),
            RecordHeader(HopHeaders.topic, topic), RecordHeader(HopHeaders.partition, "0"),
            RecordHeader(HopHeaders.offset, "7"), RecordHeader(HopHeaders.attempts, "1"),
            RecordHeader(HopHeaders.redrives, "0"), RecordHeader(HopHeaders.failedAt, failedAt),
        ]
        return RecordBody(key: recordKey, value: Array(#"{"errorCode":22,"userId":"ann"}"#.utf8), headers: headers)
    }

    var entry: DeadLetterEntry {
        DeadLetterEntry(
            InputRecord(origin: Self.position, timestamp: nil, body: record, lane: .retries),
            decoder: EventDecoder(maximumBytes: 1 << 20), at: Self.now)
    }

    var testDescription: String { "\(id) \(app) \(topic) \(code) \(failedAt) \(recordKey?.count ?? -1)" }
}
