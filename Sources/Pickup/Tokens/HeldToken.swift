import AdapterKit
import Kafka

/// A token as the token topic has it, and what a gateway asks of it before anybody wants to read it.
struct HeldToken: Sendable {
    /// The record's value, JSON.
    let value: [UInt8]
    /// The version, which only grows for a subject.
    let version: Int64
    /// When it ends, in seconds since 1970.
    let expiresAt: Int64
    /// The id of the event it answers.
    let eventID: String
    /// The failure that it ends; nil where none was reported.
    let recovery: Recovery?

    /// About how much memory it takes, in bytes.
    var memory: Int { value.count + eventID.utf8.count + (recovery == nil ? 160 : 224) }

    /// What `record` holds; nil for a tombstone, and for what is no token of a worker's.
    init?(_ record: ConsumedRecord) {
        guard let value = record.value, let version = record.body.text("remint-version").flatMap({ Int64($0) }),
            let expiresAt = record.body.text("remint-expires-at").flatMap({ Int64($0) })
                .map({ UnixTime(seconds: $0).seconds })
        else { return nil }
        let reported = record.body.text("remint-reported-at").flatMap { Int64($0) }
        self.init(
            value: value, version: version, expiresAt: expiresAt, eventID: record.body.text("ce_id") ?? "",
            reportedAt: reported.map { UnixTime(milliseconds: $0) })
    }

    /// A token with these parts.
    init(value: [UInt8], version: Int64, expiresAt: Int64, eventID: String, reportedAt: UnixTime? = nil) {
        self.value = value
        self.version = version
        self.expiresAt = expiresAt
        self.eventID = eventID
        recovery = reportedAt.map { Recovery(reportedAt: $0, version: version) }
    }
}
