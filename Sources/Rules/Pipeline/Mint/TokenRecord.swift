public import AdapterKit
public import Records

/// A checked record of the token topic: a record that `Draft` wrote, with the places of its parts in its bytes.
///
/// The one reader of the token topic: the gateway, the ledger, the version floor and `PublishedToken` all use it. Any
/// producer may have written the bytes. A record is valid only if its key, headers and value agree, so that no user
/// gets another user's token, and if its version and times are possible. It does not verify the token and does not open
/// a sealed one.
///
/// It copies nothing: a reader of millions of records needs a few parts of each.
public struct TokenRecord: Sendable {
    /// The record.
    public let body: RecordBody
    /// The time of issue, in seconds since 1970.
    public let issuedAt: Int64
    /// The token's expiry, in seconds since 1970; later than `issuedAt`.
    public let expiresAt: Int64
    /// The version, above zero. Of two tokens of a subject, the one with the higher version is newer.
    public let version: Int64
    /// The time of the first report that the token answers, in whole milliseconds; nil if it answers none.
    public let reportedAt: UnixTime?

    let parts: TokenValue
    private let keyPart: Range<Int>
    private let keyRingPart: Range<Int>?

    /// The allowed times: the years 1970 to 9999.
    private static let times: ClosedRange<Int64> = 0...253_402_300_799
    /// The longest lifetime of any vendor's token plus a margin, in seconds.
    private static let longestLife: Int64 = 367 * 86_400

    /// Checks `record` at the time `now`.
    ///
    /// - Throws: `RecordFault` for a tombstone and for any other record that is no token's record.
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
    public var app: String { label.app }
    /// The id of the key version that signed the token.
    public var keyID: String { label.keyID }
    /// The ring of that key version; nil for a record of an earlier release, which did not name the ring.
    public var keyRing: String? { label.keyRing }
    /// The id of the event that the token answers.
    public var eventID: String { string(parts.eventID) }
    /// The token in compact form: a JWS or, where it is sealed, a JWE. A secret unless it is sealed.
    public var token: ArraySlice<UInt8> { parts.token.slice(of: body.bytes) }
    /// Whether the token is sealed for a recipient.
    public var isSealed: Bool { parts.sealedFor != nil }
    /// Whether the token answers a challenge.
    public var isChallengeBound: Bool { parts.challenge != nil }
    /// The subject key: the record's key.
    public var subjectKey: ArraySlice<UInt8> { body.bytes[keyPart] }

    /// The subject, with the challenge that the token answers. The value has a single id under the name `user`, like a
    /// named id `user`. Only the record's key distinguishes the two.
    public var subject: Subject {
        let challenge = parts.challenge.map(string)
        if parts.isOfUser(keyPart, body.bytes) {
            return Subject(user: string(parts.identifiers[0].value), challenge: challenge)
        }
        return Subject(
            identifiers: parts.identifiers.map { Subject.Identifier(name: string($0.name), value: string($0.value)) })
    }

    /// The app and the key version, without a copy.
    package var label: TokenLabel {
        TokenLabel(body: body, appPart: parts.app, keyIDPart: parts.keyID, keyRingPart: keyRingPart)
    }

    func string(_ text: ByteText) -> String { String(decoding: text.slice(of: body.bytes), as: UTF8.self) }
}

/// The app of a token and the key version that signed it, as places in the token's record.
package struct TokenLabel: Sendable {
    fileprivate let body: RecordBody
    fileprivate let appPart, keyIDPart: ByteText
    fileprivate let keyRingPart: Range<Int>?

    /// The app.
    package var app: String { String(decoding: appPart.slice(of: body.bytes), as: UTF8.self) }
    /// The id of the key version.
    package var keyID: String { String(decoding: keyIDPart.slice(of: body.bytes), as: UTF8.self) }
    /// The ring of that key version; nil for a record of an earlier release, which did not name the ring.
    package var keyRing: String? { keyRingPart.map { String(decoding: body.bytes[$0], as: UTF8.self) } }

    /// Returns whether the label has the app `app` and the version `keyID` of `ring`, byte for byte.
    package func isSame(asApp app: String, keyID: String, ring: String?) -> Bool {
        guard appPart.isSame(as: app, in: body.bytes), keyIDPart.isSame(as: keyID, in: body.bytes) else { return false }
        guard let ring, let keyRingPart else { return ring == nil && keyRingPart == nil }
        return ByteText(keyRingPart).isSame(as: ring, in: body.bytes)
    }
}
