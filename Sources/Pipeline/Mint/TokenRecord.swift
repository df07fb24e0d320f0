public import AdapterKit
public import Records

/// A record of the token topic, checked: what `UnsignedToken` writes, with its parts where they are in its bytes.
///
/// The one reader of the token topic: the gateway, the ledger, the version floor and `PublishedToken` all read with it. The bytes may be
/// anybody's. A record counts only where its key, its headers and its value agree, so that nobody gets a token whose subject is
/// another than the one of its key, and where its version and its times are possible. The token itself is not verified, and a
/// sealed one not opened.
///
/// It copies nothing: a reader of millions of records needs a few parts of each.
public struct TokenRecord: Sendable {
    /// The record.
    public let body: RecordBody
    /// The time of issue, in seconds since 1970.
    public let issuedAt: Int64
    /// The token's end, in seconds since 1970; later than `issuedAt`.
    public let expiresAt: Int64
    /// The version: of two tokens of a subject the one with the higher is newer. Above zero.
    public let version: Int64
    /// The time of the first report that it answers, in whole milliseconds; nil where it answers none.
    public let reportedAt: UnixTime?

    let parts: TokenValue
    private let keyPart: Range<Int>
    private let keyRingPart: Range<Int>?

    /// The years 1970 to 9999.
    private static let times: ClosedRange<Int64> = 0...253_402_300_799
    /// The longest life of any vendor's token, with a day to spare, in seconds.
    private static let longestLife: Int64 = 367 * 86_400

    /// Checks `record` at the time `now`.
    ///
    /// - Throws: `RecordFault` for a tombstone and for anything else that is not a token's record.
    public init(_ record: RecordBody, at now: UnixTime) throws(RecordFault) {
        let headers = TokenHeaders(record)
        guard let keyPart = record.keyPart, let valuePart = record.valuePart,
            headers.type.says("remint.token.replaced.v1", in: record.bytes)
        else { throw .foreign }
        guard let parts = TokenValue(record.bytes, in: valuePart) else { throw .malformed }
        guard ReadBackBound.admits(version: parts.version, at: now) else { throw .version }
        try Self.checkLife(of: parts, at: now)
        guard headers.agree(with: parts, in: record.bytes) else { throw .mismatched }
        guard parts.isOf(key: keyPart, in: record.bytes) else { throw .mismatched }
        self.body = record
        self.parts = parts
        self.keyPart = keyPart
        keyRingPart = headers.keyRing.text(in: record.bytes)
        (issuedAt, expiresAt, version) = (parts.issuedAt, parts.expiresAt, parts.version)
        reportedAt = headers.reportedAt.isThere ? try Self.reportedAt(record, at: now) : nil
    }

    private static func checkLife(of parts: TokenValue, at now: UnixTime) throws(RecordFault) {
        guard times.contains(parts.issuedAt), times.contains(parts.expiresAt), parts.issuedAt < parts.expiresAt,
            parts.expiresAt - parts.issuedAt <= longestLife,
            ReadBackBound.admits(pastTime: UnixTime(seconds: parts.issuedAt), at: now)
        else { throw .time }
    }

    private static func reportedAt(_ record: RecordBody, at now: UnixTime) throws(RecordFault) -> UnixTime {
        guard let time = record.text("remint-reported-at").flatMap({ Int64($0) }).map({ UnixTime(milliseconds: $0) }),
            ReadBackBound.admits(pastTime: time, at: now)
        else { throw .time }
        return time
    }

    // MARK: Parts

    /// The app.
    public var app: String { string(parts.app) }
    /// The id of the key's version that signed the token.
    public var keyID: String { string(parts.keyID) }
    /// The ring of that version; nil for a record of an earlier release, which did not name it.
    public var keyRing: String? { keyRingPart.map { String(decoding: body.bytes[$0], as: UTF8.self) } }
    /// The id of the event that called for the token.
    public var eventID: String { string(parts.eventID) }
    /// The token in compact form: a JWS or, where it is sealed, a JWE. A secret unless it is sealed.
    public var token: ArraySlice<UInt8> { parts.token.slice(of: body.bytes) }
    /// Whether the token is sealed for a recipient.
    public var isSealed: Bool { parts.sealedFor != nil }
    /// Whether the token answers a challenge.
    public var isChallengeBound: Bool { parts.challenge != nil }
    /// The subject key: the record's key.
    public var subjectKey: ArraySlice<UInt8> { body.bytes[keyPart] }

    /// The subject, with the challenge that the token answers. A single id stands here as one of the name `user` would: only the
    /// record's key tells them apart.
    public var subject: Subject {
        let challenge = parts.challenge.map(string)
        if parts.isOfUser(keyPart, body.bytes) {
            return Subject(user: string(parts.identifiers[0].value), challenge: challenge)
        }
        return Subject(
            identifiers: parts.identifiers.map { Subject.Identifier(name: string($0.name), value: string($0.value)) })
    }

    /// Whether the token is of `app`, and signed by the version `keyID` of `ring`, byte for byte.
    package func isOf(app: String, keyID: String, ring: String?) -> Bool {
        guard parts.app.isSame(as: app, in: body.bytes), parts.keyID.isSame(as: keyID, in: body.bytes) else {
            return false
        }
        guard let ring, let keyRingPart else { return ring == nil && keyRingPart == nil }
        return ByteText(keyRingPart).isSame(as: ring, in: body.bytes)
    }

    func string(_ text: ByteText) -> String { String(decoding: text.slice(of: body.bytes), as: UTF8.self) }
}
