public import AdapterKit
public import Records

/// A token as it stands on the token topic, for whoever hands it over: what `Draft` writes, read back.
///
/// The one reader of the token topic: the gateway, the ledger, the version floor and the tests all read with it. The bytes may be
/// anybody's. A record counts only where its key, its headers and its value agree, so that nobody gets a token whose subject is
/// another than the one of its key, and where its version and its times are possible. The token itself is not verified, and a
/// sealed one not opened.
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

    /// The longest value that is read, in bytes: as long as a topic takes by default.
    private static let longestValue = 1 << 20
    /// More containers than this inside one another are in no such value, also with members that are still to come.
    private static let deepest = 8
    /// The years 1970 to 9999.
    private static let times: ClosedRange<Int64> = 0...253_402_300_799

    /// The longest life of any vendor's token, with a day to spare, in seconds.
    private static let longestLife: Int64 = 367 * 86_400

    /// Reads the token in `record` at the time `now`.
    ///
    /// - Throws: `RecordFault` for a tombstone and for anything else that is not a token's record.
    public init(_ record: RecordBody, at now: UnixTime) throws(RecordFault) {
        guard let keyPart = record.keyPart, let valuePart = record.valuePart,
            record.says("ce_type", "remint.token.replaced.v1")
        else { throw .foreign }
        guard let root = Self.value(record.bytes, in: valuePart),
            let app = root["app"]?.string, !app.isEmpty, let vendor = root["vendor"]?.string,
            let token = root["token"]?.string, let algorithm = root["algorithm"]?.string,
            let keyID = root["key_id"]?.string, let issuedAt = root["issued_at"]?.integer,
            let expiresAt = root["expires_at"]?.integer, let version = root["version"]?.integer,
            let eventID = root["event_id"]?.string
        else { throw .malformed }
        for name in ["sealed_for", "device", "challenge"] {
            if let member = root[name], !member.isString { throw .malformed }
        }
        let sealedFor = root["sealed_for"]?.string
        guard Self.isCompact(token, parts: sealedFor == nil ? 3 : 5) else { throw .malformed }
        guard ReadBackBound.admits(version: version, at: now) else { throw .version }
        try Self.checkLife(from: issuedAt, to: expiresAt, at: now)
        guard record.says("ce_source", "/remint/" + app), record.says("remint-key-id", keyID),
            record.says("remint-expires-at", String(expiresAt)), record.says("remint-version", String(version)),
            sealedFor.map({ record.says("remint-seal", $0) }) ?? !record.has("remint-seal"),
            !record.has("ce_id") || record.says("ce_id", eventID)
        else { throw .mismatched }
        let key = Array(record.bytes[keyPart])
        let subjects = Self.subjects(root["subject"], challenge: root["challenge"]?.string)
        guard let subject = subjects.first(where: { $0.key(app: app) == key }) else { throw .mismatched }
        self.app = app
        self.vendor = vendor
        self.subject = subject
        subjectKey = key
        self.token = token
        self.sealedFor = sealedFor
        self.algorithm = algorithm
        self.keyID = keyID
        keyRing = record.text("remint-key-ring")
        self.issuedAt = issuedAt
        self.expiresAt = expiresAt
        self.version = version
        self.eventID = eventID
        device = root["device"]?.string
        reportedAt = try Self.reportedAt(record, at: now)
    }

    private static func checkLife(from issuedAt: Int64, to expiresAt: Int64, at now: UnixTime) throws(RecordFault) {
        guard times.contains(issuedAt), times.contains(expiresAt), issuedAt < expiresAt,
            expiresAt - issuedAt <= longestLife,
            ReadBackBound.admits(pastTime: UnixTime(seconds: issuedAt), at: now)
        else { throw .time }
    }

    private static func reportedAt(_ record: RecordBody, at now: UnixTime) throws(RecordFault) -> UnixTime? {
        guard record.has("remint-reported-at") else { return nil }
        guard let time = record.text("remint-reported-at").flatMap({ Int64($0) }).map({ UnixTime(milliseconds: $0) }),
            ReadBackBound.admits(pastTime: time, at: now)
        else { throw .time }
        return time
    }

    private static func value(_ bytes: [UInt8], in part: Range<Int>) -> JSONValue? {
        do throws(JSONError) {
            let limits = JSONDocument.Limits(bytes: longestValue, depth: deepest)
            return try JSONDocument(parsing: bytes, in: part, limits: limits).root
        } catch { return nil }
    }

    /// Whom `identity` may name: a single id stands there as one of the name `user` would. Only the record's key tells them apart.
    private static func subjects(_ identity: JSONValue?, challenge: String?) -> [Subject] {
        var identifiers: [Subject.Identifier] = []
        for member in identity?.members ?? [] {
            guard let value = member.value.string else { return [] }
            identifiers.append(Subject.Identifier(name: member.name, value: value))
        }
        guard !identifiers.isEmpty else { return [] }
        // No vendor that knows users by several ids sends a challenge.
        let named = challenge == nil ? [Subject(identifiers: identifiers)] : []
        guard identifiers.count == 1, identifiers[0].name.hasSameBytes(as: "user") else { return named }
        return [Subject(user: identifiers[0].value, challenge: challenge)] + named
    }

    /// Whether `token` has as many parts with dots between them, each of them base64url and not empty.
    ///
    /// In one pass over its bytes: whoever reads a topic of millions of tokens looks at each byte of them here.
    private static func isCompact(_ token: String, parts: Int) -> Bool {
        let bytes = token.utf8.span
        var found = 1
        var length = 0
        for index in bytes.indices {
            if bytes[index] == UInt8(ascii: ".") {
                guard length > 0 else { return false }
                found += 1
                length = 0
            } else {
                guard isBase64URL(bytes[index]) else { return false }
                length += 1
            }
        }
        return found == parts && length > 0
    }

    private static func isBase64URL(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
