public import AdapterKit
public import Records

/// A token as it stands on the token topic, for whoever hands it over: what `UnsignedToken` writes, read back.
///
/// All parts of a `TokenRecord`, which decides what such a record is, as copies.
public struct PublishedToken: Sendable {
    /// The app.
    public let app: String
    /// The name of the app's adapter.
    public let vendor: String
    /// Whom the token is for, with the challenge that it answers.
    public let subject: Subject
    /// The subject key: the record's key.
    public let subjectKey: [UInt8]
    /// The token in compact form: a JWS or, where it is sealed, a JWE. A secret unless it is sealed.
    public let token: String
    /// The `kid` of the recipient whom it is sealed for; nil for a token as devices take it.
    public let sealedFor: String?
    /// What it is signed with.
    public let algorithm: String
    /// The id of the key's version that signed it.
    public let keyID: String
    /// The ring of that version; nil for a record of an earlier release, which did not name it.
    public let keyRing: String?
    /// When it was issued, in seconds since 1970.
    public let issuedAt: Int64
    /// When it ends, in seconds since 1970; later than `issuedAt`.
    public let expiresAt: Int64
    /// Its version: of two tokens of a subject the one with the higher is newer. Above zero.
    public let version: Int64
    /// The id of the event that called for it.
    public let eventID: String
    /// The device that reported the failure, where it is known.
    public let device: String?
    /// When the first report that it answers was made, in whole milliseconds; nil where it answers none.
    public let reportedAt: UnixTime?
    /// The challenge it answers.
    public var challenge: String? { subject.challenge }

    /// Reads the token in `record` at the time `now`.
    ///
    /// - Throws: `RecordFault` for a tombstone and for anything else that is not a token's record.
    public init(_ record: RecordBody, at now: UnixTime) throws(RecordFault) {
        self.init(try TokenRecord(record, at: now))
    }

    /// Copies the parts of `record`.
    public init(_ record: TokenRecord) {
        let parts = record.parts
        app = record.app
        vendor = record.string(parts.vendor)
        subject = record.subject
        subjectKey = Array(record.subjectKey)
        token = record.string(parts.token)
        sealedFor = parts.sealedFor.map(record.string)
        algorithm = record.string(parts.algorithm)
        keyID = record.keyID
        keyRing = record.keyRing
        issuedAt = record.issuedAt
        expiresAt = record.expiresAt
        version = record.version
        eventID = record.eventID
        device = parts.device.map(record.string)
        reportedAt = record.reportedAt
    }
}
