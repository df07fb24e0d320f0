import AdapterKit

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
