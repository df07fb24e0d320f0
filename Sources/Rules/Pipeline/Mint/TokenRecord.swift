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

    public var app: String { label.app }
    public var keyID: String { label.keyID }
    /// The ring of that key version; nil for a record of an earlier release, which did not name the ring.
    public var keyRing: String? { label.keyRing }
    public var eventID: String { string(parts.eventID) }
    /// The token in compact form: a JWS or, where it is sealed, a JWE. A secret unless it is sealed.
    public var token: ArraySlice<UInt8> { parts.token.slice(of: body.bytes) }
    public var isSealed: Bool { parts.sealedFor != nil }
    public var isChallengeBound: Bool { parts.challenge != nil }
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

    package var app: String { String(decoding: appPart.slice(of: body.bytes), as: UTF8.self) }
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

/// A token of the token topic, for readers that pass it on: a record that `Draft` wrote, read back.
///
/// Contains copies of all parts of a `TokenRecord`, which checks the record.
public struct PublishedToken: Sendable {
    public let app: String
    public let vendor: String
    public let subject: Subject
    public let subjectKey: [UInt8]
    /// The token in compact form: a JWS or, where it is sealed, a JWE. A secret unless it is sealed.
    public let token: String
    /// The `kid` of the recipient of a sealed token; nil for a clear token.
    public let sealedFor: String?
    public let algorithm: String
    public let keyID: String
    /// The ring of that key version; nil for a record of an earlier release, which did not name the ring.
    public let keyRing: String?
    /// The time of issue, in seconds since 1970.
    public let issuedAt: Int64
    /// The expiry, in seconds since 1970; later than `issuedAt`.
    public let expiresAt: Int64
    /// The version, above zero. Of two tokens of a subject, the one with the higher version is newer.
    public let version: Int64
    public let eventID: String
    /// The device that reported the failure, if it is known.
    public let device: String?
    /// The time of the first report that the token answers, in whole milliseconds; nil if it answers none.
    public let reportedAt: UnixTime?
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

/// The headers of a token's record, by their places in its bytes. If a name is duplicate, the last header counts, as in
/// Kafka.
private struct TokenHeaders {
    /// A header: whether it exists, and the place of its value unless that is null.
    struct Header {
        private(set) var isThere = false
        private(set) var value: Range<Int>?

        mutating func set(_ value: Range<Int>?) { (isThere, self.value) = (true, value) }

        /// Returns whether the value is `text`, byte for byte.
        func says(_ text: String, in bytes: [UInt8]) -> Bool {
            value.map { ByteText($0).isSame(as: text, in: bytes) } ?? false
        }

        /// Returns whether the value equals the bytes at `place` in `bytes`.
        func says(_ place: Range<Int>, in bytes: [UInt8]) -> Bool {
            value.map { ByteText($0).isSame(as: place, in: bytes) } ?? false
        }

        /// Returns whether the value is `text`.
        func says(_ text: ByteText, in bytes: [UInt8]) -> Bool {
            value.map { text.isSame(as: $0, in: bytes) } ?? false
        }

        /// Returns the place of the value if the value is UTF-8.
        func text(in bytes: [UInt8]) -> Range<Int>? {
            guard let value, (try? UTF8Span(validating: bytes.span.extracting(value))) != nil else { return nil }
            return value
        }
    }

    private(set) var type = Header()
    private(set) var source = Header()
    private(set) var id = Header()
    private(set) var keyID = Header()
    private(set) var keyRing = Header()
    private(set) var expiresAt = Header()
    private(set) var version = Header()
    private(set) var seal = Header()
    private(set) var reportedAt = Header()

    private static let sourcePrefix = "/remint/"

    /// Reads the headers of `record`.
    init(_ record: RecordBody) {
        let bytes = record.bytes
        var headers = self
        record.forEachHeader { name, value in headers.take(name, value, bytes) }
        self = headers
    }

    private init() {}

    private mutating func take(_ name: Range<Int>, _ value: Range<Int>?, _ bytes: [UInt8]) {
        func isNamed(_ wanted: String) -> Bool { ByteText(name).isSame(as: wanted, in: bytes) }
        switch name.count {
        case 5: if isNamed("ce_id") { id.set(value) }
        case 7: if isNamed("ce_type") { type.set(value) }
        case 9: if isNamed("ce_source") { source.set(value) }
        case 11: if isNamed("remint-seal") { seal.set(value) }
        case 13: if isNamed("remint-key-id") { keyID.set(value) }
        case 14: if isNamed("remint-version") { version.set(value) }
        case 15: if isNamed("remint-key-ring") { keyRing.set(value) }
        case 17: if isNamed("remint-expires-at") { expiresAt.set(value) }
        case 18: if isNamed("remint-reported-at") { reportedAt.set(value) }
        default: break
        }
    }

    /// Returns whether the headers agree with the value. Version and expiry are above zero, so a JSON number is spelled
    /// like a header.
    func agree(with value: TokenValue, in bytes: [UInt8]) -> Bool {
        guard let source = source.value, source.count >= Self.sourcePrefix.utf8.count else { return false }
        let app = source.lowerBound + Self.sourcePrefix.utf8.count
        return ByteText(source.lowerBound..<app).isSame(as: Self.sourcePrefix, in: bytes)
            && value.app.isSame(as: app..<source.upperBound, in: bytes)
            && keyID.says(value.keyID, in: bytes)
            && expiresAt.says(value.expiresAtPlace, in: bytes) && version.says(value.versionPlace, in: bytes)
            && (value.sealedFor.map { seal.says($0, in: bytes) } ?? !seal.isThere)
            && (!id.isThere || id.says(value.eventID, in: bytes))
    }
}

/// A string of a record: its place in the record's bytes, or its decoded bytes if it contains an escape.
struct ByteText: Sendable {
    let place: Range<Int>
    let decoded: [UInt8]?

    /// Creates the string at `place`.
    init(_ place: Range<Int>) { (self.place, decoded) = (place, nil) }

    /// Creates the JSON string `part`; nil for any other kind of value.
    init?(_ part: JSONDocument.Part) {
        guard part.isString else { return nil }
        (place, decoded) = (part.place, part.decoded)
    }

    var count: Int { decoded?.count ?? place.count }
    var isEmpty: Bool { count == 0 }

    /// Returns the string's bytes; `bytes` are the record's.
    func slice(of bytes: [UInt8]) -> ArraySlice<UInt8> { decoded.map { $0[...] } ?? bytes[place] }

    /// Returns whether the string is `text`, byte for byte.
    func isSame(as text: String, in bytes: [UInt8]) -> Bool {
        let wanted = text.utf8.span
        return decoded.map { $0.span.hasSameBytes(as: wanted) } ?? bytes.span.extracting(place).hasSameBytes(as: wanted)
    }

    /// Returns whether the string equals the bytes at `other` in `bytes`.
    func isSame(as other: Range<Int>, in bytes: [UInt8]) -> Bool {
        let wanted = bytes.span.extracting(other)
        return decoded.map { $0.span.hasSameBytes(as: wanted) } ?? bytes.span.extracting(place).hasSameBytes(as: wanted)
    }
}
