import AdapterKit
import Records

/// The headers of a token's record, by their places in its bytes. If a name is duplicate, the last header counts, as in
/// Kafka.
struct TokenHeaders {
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
