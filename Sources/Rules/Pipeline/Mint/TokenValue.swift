import AdapterKit

/// The value of a token's record, by the places of its parts in the record's bytes.
struct TokenValue: Sendable {
    let app, vendor, token, algorithm, keyID, eventID: ByteText
    let sealedFor, device, challenge: ByteText?
    let issuedAt, expiresAt, version: Int64
    /// The places of the digits of `expiresAt` and `version`.
    let expiresAtPlace, versionPlace: Range<Int>
    /// The subject's ids with their names, in the order of the value; empty if one of them is no string.
    let identifiers: [(name: ByteText, value: ByteText)]

    /// The longest accepted value, in bytes: the default limit of a topic.
    private static let longest = 1 << 20
    /// The deepest accepted nesting. No token's value is deeper, even with future members.
    private static let deepest = 8

    /// Reads the value at `part` in `bytes`; nil if it is no token's value.
    init?(_ bytes: [UInt8], in part: Range<Int>) {
        let document: JSONDocument
        do throws(JSONError) {
            let limits = JSONDocument.Limits(bytes: Self.longest, depth: Self.deepest)
            document = try JSONDocument(parsing: bytes, in: part, limits: limits)
        } catch { return nil }
        var members = Members()
        document.forEachMember { name, value in members.take(name, value, bytes) }
        guard let app = members.app.flatMap(ByteText.init), !app.isEmpty,
            let vendor = members.vendor.flatMap(ByteText.init), let token = members.token.flatMap(ByteText.init),
            let algorithm = members.algorithm.flatMap(ByteText.init), let keyID = members.keyID.flatMap(ByteText.init),
            let eventID = members.eventID.flatMap(ByteText.init),
            let issuedAt = members.issuedAt.flatMap({ Self.integer($0, in: bytes) }),
            let expiresAt = members.expiresAt, let end = Self.integer(expiresAt, in: bytes),
            let version = members.version, let number = Self.integer(version, in: bytes),
            members.sealedFor?.isString ?? true, members.device?.isString ?? true, members.challenge?.isString ?? true
        else { return nil }
        (self.app, self.vendor, self.token, self.algorithm) = (app, vendor, token, algorithm)
        (self.keyID, self.eventID) = (keyID, eventID)
        sealedFor = members.sealedFor.flatMap(ByteText.init)
        device = members.device.flatMap(ByteText.init)
        challenge = members.challenge.flatMap(ByteText.init)
        (self.issuedAt, self.expiresAt, self.version) = (issuedAt, end, number)
        (expiresAtPlace, versionPlace) = (expiresAt.place, version.place)
        identifiers = members.subject.map { Self.identifiers($0, of: document) } ?? []
        guard Self.isCompact(token.decoded ?? [], token, in: bytes, parts: sealedFor == nil ? 3 : 5) else { return nil }
    }

    /// The members that count. JSON allows none of them twice.
    private struct Members {
        var app, vendor, subject, token, algorithm, keyID, issuedAt, expiresAt, version, eventID: JSONDocument.Part?
        var sealedFor, device, challenge: JSONDocument.Part?

        mutating func take(_ name: JSONDocument.Part, _ value: JSONDocument.Part, _ bytes: [UInt8]) {
            guard let text = ByteText(name) else { return }
            func isNamed(_ wanted: String) -> Bool { text.isSame(as: wanted, in: bytes) }
            switch text.count {
            case 3: if isNamed("app") { app = value }
            case 5: if isNamed("token") { token = value }
            case 6:
                if isNamed("vendor") { vendor = value }
                if isNamed("key_id") { keyID = value }
                if isNamed("device") { device = value }
            case 7:
                if isNamed("subject") { subject = value }
                if isNamed("version") { version = value }
            case 8: if isNamed("event_id") { eventID = value }
            case 9:
                if isNamed("algorithm") { algorithm = value }
                if isNamed("issued_at") { issuedAt = value }
                if isNamed("challenge") { challenge = value }
            case 10:
                if isNamed("expires_at") { expiresAt = value }
                if isNamed("sealed_for") { sealedFor = value }
            default: break
            }
        }
    }

    /// Returns the integer `part`; nil for another kind of value, a fraction, an exponent, or an integer out of range.
    private static func integer(_ part: JSONDocument.Part, in bytes: [UInt8]) -> Int64? {
        guard part.isNumber else { return nil }
        let digits = bytes.span.extracting(part.place)
        let isNegative = digits[0] == UInt8(ascii: "-")
        var number: Int64 = 0
        for index in (isNegative ? 1 : 0)..<digits.count {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digits[index]) else { return nil }
            let (tens, isTooLarge) = number.multipliedReportingOverflow(by: 10)
            let (sum, isLarger) = tens.subtractingReportingOverflow(Int64(digits[index] - UInt8(ascii: "0")))
            guard !isTooLarge, !isLarger else { return nil }
            number = sum
        }
        // The range has one more negative integer than positive ones.
        guard !isNegative else { return number }
        return number == .min ? nil : -number
    }

    private static func identifiers(
        _ subject: JSONDocument.Part, of document: JSONDocument
    ) -> [(name: ByteText, value: ByteText)] {
        var identifiers: [(name: ByteText, value: ByteText)] = []
        var areStrings = true
        document.forEachMember(of: subject.index) { name, value in
            guard let name = ByteText(name), let value = ByteText(value) else {
                areStrings = false
                return
            }
            identifiers.append((name, value))
        }
        return areStrings ? identifiers : []
    }

    // MARK: The subject

    /// Returns whether the key at `key` is this subject's: the app and each part, percent-encoded and joined by
    /// slashes.
    func isOf(key: Range<Int>, in bytes: [UInt8]) -> Bool { isOfUser(key, bytes) || isOfIdentifiers(key, bytes) }

    /// Returns whether the key is that of a user with a single id, which has the name `user` in the value.
    func isOfUser(_ key: Range<Int>, _ bytes: [UInt8]) -> Bool {
        guard identifiers.count == 1, identifiers[0].name.isSame(as: "user", in: bytes) else { return false }
        var rest = SubjectKeyReading(bytes, in: key)
        guard rest.passes(app), rest.passes(UInt8(ascii: "/")), rest.passes(identifiers[0].value) else { return false }
        if let challenge { guard rest.passes(UInt8(ascii: "/")), rest.passes(challenge) else { return false } }
        return rest.isAtEnd
    }

    /// Returns whether the key is that of a user with named ids. No vendor with named ids sends a challenge.
    private func isOfIdentifiers(_ key: Range<Int>, _ bytes: [UInt8]) -> Bool {
        guard challenge == nil, !identifiers.isEmpty else { return false }
        var rest = SubjectKeyReading(bytes, in: key)
        guard rest.passes(app) else { return false }
        let sorted =
            identifiers.count == 1
            ? identifiers
            : identifiers.sorted { $0.name.slice(of: bytes).lexicographicallyPrecedes($1.name.slice(of: bytes)) }
        for (name, value) in sorted {
            guard rest.passes(UInt8(ascii: "/")), rest.passes(name), rest.passes(UInt8(ascii: "=")), rest.passes(value)
            else { return false }
        }
        return rest.isAtEnd
    }

    // MARK: The token

    /// Returns whether `token` has `parts` parts with dots between them, each of them base64url and not empty.
    ///
    /// Reads each byte once, because a reader of the topic checks each byte of millions of tokens here.
    private static func isCompact(_ decoded: [UInt8], _ token: ByteText, in bytes: [UInt8], parts: Int) -> Bool {
        let bytes = token.decoded == nil ? bytes.span.extracting(token.place) : decoded.span
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
        byte < 128 && (byte < 64 ? lower : upper) >> UInt64(byte & 63) & 1 == 1
    }

    /// The characters of base64url among the first 64 code points, one bit each: the hyphen and the digits.
    private static let lower: UInt64 = 1 << 45 | 0x3FF << 48
    /// The characters of base64url among the next 64 code points: the letters and the underscore.
    private static let upper: UInt64 = 0x3FF_FFFF << 1 | 1 << 31 | 0x3FF_FFFF << 33
}

/// A reader of a subject key that compares it with expected parts.
private struct SubjectKeyReading {
    private let bytes: [UInt8]
    private let end: Int
    private var at: Int

    init(_ bytes: [UInt8], in key: Range<Int>) {
        self.bytes = bytes
        (at, end) = (key.lowerBound, key.upperBound)
    }

    var isAtEnd: Bool { at == end }

    /// Skips `byte` if it is next.
    ///
    /// - Returns: whether it was next.
    mutating func passes(_ byte: UInt8) -> Bool {
        guard at < end, bytes[at] == byte else { return false }
        at += 1
        return true
    }

    /// Skips `text`, percent-encoded, if it is next.
    ///
    /// - Returns: whether it was next.
    mutating func passes(_ text: ByteText) -> Bool {
        let length =
            text.decoded.map { PercentEncoding.lengthOfEncoding(of: $0.span, at: bytes.span.extracting(at..<end)) }
            ?? PercentEncoding.lengthOfEncoding(
                of: bytes.span.extracting(text.place), at: bytes.span.extracting(at..<end))
        guard let length else { return false }
        at += length
        return true
    }
}
