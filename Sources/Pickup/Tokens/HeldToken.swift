import AdapterKit
import Pipeline

/// A token as the token topic has it, and what the gateway asks of it before anybody wants to read it.
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

    /// Reads `record` of the token topic at the time `now`, as every reader of that topic does.
    ///
    /// - Throws: `RecordFault` for what is no token of its key's subject.
    init(_ record: RecordBody, at now: UnixTime) throws(RecordFault) {
        let token = try PublishedToken(record, at: now)
        self.init(
            value: record.value ?? [], version: token.version, expiresAt: token.expiresAt, eventID: token.eventID,
            reportedAt: token.reportedAt)
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
