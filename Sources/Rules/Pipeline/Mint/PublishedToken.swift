public import AdapterKit
public import Records

/// A token of the token topic, for readers that pass it on: a record that `Draft` wrote, read back.
///
/// Contains copies of all parts of a `TokenRecord`, which checks the record.
public struct PublishedToken: Sendable {
    /// The app.
    public let app: String
    /// The name of the app's adapter.
    public let vendor: String
    /// The token's user, with the challenge that the token answers.
    public let subject: Subject
    /// The subject key: the record's key.
    public let subjectKey: [UInt8]
    /// The token in compact form: a JWS or, where it is sealed, a JWE. A secret unless it is sealed.
    public let token: String
    /// The `kid` of the recipient of a sealed token; nil for a clear token.
    public let sealedFor: String?
    /// The algorithm of the signature.
    public let algorithm: String
    /// The id of the key version that signed the token.
    public let keyID: String
    /// The ring of that key version; nil for a record of an earlier release, which did not name the ring.
    public let keyRing: String?
    /// The time of issue, in seconds since 1970.
    public let issuedAt: Int64
    /// The expiry, in seconds since 1970; later than `issuedAt`.
    public let expiresAt: Int64
    /// The version, above zero. Of two tokens of a subject, the one with the higher version is newer.
    public let version: Int64
    /// The id of the event that the token answers.
    public let eventID: String
    /// The device that reported the failure, if it is known.
    public let device: String?
    /// The time of the first report that the token answers, in whole milliseconds; nil if it answers none.
    public let reportedAt: UnixTime?
    /// The challenge that the token answers.
    public var challenge: String? { subject.challenge }

    /// Reads the token in `record` at the time `now`.
    ///
    /// - Throws: `RecordFault` for a tombstone and for any other record that is no token's record.
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
