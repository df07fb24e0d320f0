import AdapterKit

/// The text a Java map prints, `{code=22, reason=Token expired, userId=u-1001}`, read back as far as it can be.
///
/// Values are not quoted, so a comma or an equals sign inside one cannot be told from the map's own. A value therefore
/// ends only where another known key begins; of values that stand twice the first counts.
struct PrintedMap {
    private let text: Substring

    init(_ text: String) { self.text = text[...] }

    /// The map as a JSON object of strings; nil where the text is not a printed map.
    var json: JSONValue? {
        guard text.hasPrefix("{"), text.hasSuffix("}") else { return nil }
        let body = text.dropFirst().dropLast()
        let starts = Self.keys.compactMap { key in Self.start(of: key, in: body) }.sorted { $0.name < $1.name }
        guard !starts.isEmpty else { return nil }
        let sorted = starts.sorted { $0.nameRange.lowerBound < $1.nameRange.lowerBound }
        var json = JSONWriter()
        json.beginObject()
        for (index, start) in sorted.enumerated() {
            let end = index + 1 < sorted.count ? sorted[index + 1].nameRange.lowerBound : body.endIndex
            var value = body[start.nameRange.upperBound..<end]
            if index + 1 < sorted.count, value.hasSuffix(", ") { value = value.dropLast(2) }
            json.name(start.name)
            if value == "null" { json.null() } else { json.string(String(value)) }
        }
        json.endObject()
        return try? JSONDocument(parsing: json.bytes).root
    }

    private static let keys = ["code", "reason", "userId", "message", "signature"]

    /// Where `key=` stands at the beginning or after a comma.
    private static func start(of key: String, in body: Substring) -> (name: String, nameRange: Range<Substring.Index>)?
    {
        let wanted = key + "="
        var index = body.startIndex
        while index < body.endIndex {
            let isBoundary = index == body.startIndex || body[..<index].hasSuffix(", ")
            if isBoundary, body[index...].hasPrefix(wanted) {
                return (key, index..<body.index(index, offsetBy: wanted.count))
            }
            index = body.index(after: index)
        }
        return nil
    }
}
