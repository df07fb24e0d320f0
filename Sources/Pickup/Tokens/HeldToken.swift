import AdapterKit
import Pipeline

/// A token as the token topic has it: what the gateway needs of its record, and no more.
struct HeldToken: Sendable {
    /// The token in compact form: a JWS or, where it is sealed, a JWE.
    let text: [UInt8]
    /// Whether it is sealed for a recipient.
    let isSealed: Bool
    /// The version, which only grows for a subject.
    let version: Int64
    /// When it ends, in seconds since 1970.
    let expiresAt: Int64
    /// The id of the event it answers; empty for a token that was remembered.
    let eventID: String
    /// The failure that it ends; nil where none was reported.
    let recovery: Recovery?
    /// The challenge that it answers, where its caller asked for one.
    var challenge: String?

    /// Reads `record` of the token topic at the time `now`, as every reader of that topic does.
    ///
    /// - Throws: `RecordFault` for what is no token of its key's subject.
    init(_ record: RecordBody, at now: UnixTime) throws(RecordFault) {
        let token = try TokenRecord(record, at: now)
        // Of an old one nobody asks any more how long its failure lasted.
        let isRecent = now.microseconds(since: UnixTime(microseconds: token.version)) <= Recovery.patience
        self.init(
            text: Array(token.token), isSealed: token.isSealed, version: token.version,
            expiresAt: token.expiresAt, eventID: token.eventID,
            reportedAt: isRecent ? token.reportedAt : nil)
    }

    /// A token with these parts.
    init(
        text: [UInt8], isSealed: Bool = false, version: Int64, expiresAt: Int64, eventID: String = "",
        reportedAt: UnixTime? = nil
    ) {
        self.init(
            text: text, isSealed: isSealed, version: version, expiresAt: expiresAt, eventID: eventID,
            recovery: reportedAt.map { Recovery(reportedAt: $0, version: version) })
    }

    /// A token that was remembered.
    init(
        text: [UInt8], isSealed: Bool, version: Int64, expiresAt: Int64, eventID: String = "", recovery: Recovery?
    ) {
        self.text = text
        self.isSealed = isSealed
        self.version = version
        self.expiresAt = expiresAt
        self.eventID = eventID
        self.recovery = recovery
    }

    /// Whether it ends after `now`.
    func isLive(at now: UnixTime) -> Bool { expiresAt > now.seconds }

    /// Whether `report`, an SDK's own words, holds this very token.
    func isNamed(in report: [UInt8]) -> Bool {
        let signature = text.suffix(24)
        guard let first = signature.first, report.count >= signature.count else { return false }
        return report.indices.contains { report[$0] == first && report[$0...].starts(with: signature) }
    }
}
