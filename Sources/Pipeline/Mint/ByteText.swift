import AdapterKit

/// A text of a record as it stands in the record's bytes, or what it stands for where an escape is in it.
struct ByteText: Sendable {
    let place: Range<Int>
    let decoded: [UInt8]?

    /// The text at `place`.
    init(_ place: Range<Int>) { (self.place, decoded) = (place, nil) }

    /// The string `part` of a JSON text; nil for anything else.
    init?(_ part: JSONDocument.Part) {
        guard part.isString else { return nil }
        (place, decoded) = (part.place, part.decoded)
    }

    var count: Int { decoded?.count ?? place.count }
    var isEmpty: Bool { count == 0 }

    /// The text's bytes, where `bytes` are the record's.
    func slice(of bytes: [UInt8]) -> ArraySlice<UInt8> { decoded.map { $0[...] } ?? bytes[place] }

    /// Whether it is `text`, byte for byte.
    func isSame(as text: String, in bytes: [UInt8]) -> Bool {
        let wanted = text.utf8.span
        return decoded.map { Self.isSame($0.span, wanted) } ?? Self.isSame(bytes.span.extracting(place), wanted)
    }

    /// Whether it is what stands at `other` in `bytes`.
    func isSame(as other: Range<Int>, in bytes: [UInt8]) -> Bool {
        let wanted = bytes.span.extracting(other)
        return decoded.map { Self.isSame($0.span, wanted) } ?? Self.isSame(bytes.span.extracting(place), wanted)
    }

    static func isSame(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
        guard left.count == right.count else { return false }
        for index in left.indices where left[index] != right[index] { return false }
        return true
    }
}
