import AdapterKit

/// The text a Java map prints, `{code=22, reason=Token expired, userId=u-1001}`, read back as far as it can be.
///
/// Values are not quoted, so a comma or an equals sign inside one cannot be told from the map's own. A value therefore
/// ends only where another known key begins; of values that stand twice the first counts. Read as bytes: characters would
/// cost quadratic time where they are long to tell apart, such as a row of flags.
struct PrintedMap {
    /// A longer text is no SDK's, in bytes.
    private static let limit = 64 << 10
    private static let keys = ["code", "reason", "userId", "message", "signature"]
    private static let separator = Array(", ".utf8)

    private let text: [UInt8]

    init(_ text: String) { self.text = text.utf8.count <= Self.limit ? Array(text.utf8) : [] }

    /// The map as a JSON object of strings; nil where the text is not a printed map.
    var json: JSONValue? {
        guard text.count >= 2, text.first == UInt8(ascii: "{"), text.last == UInt8(ascii: "}") else { return nil }
        let body = text.dropFirst().dropLast()
        let starts = Self.starts(in: body)
        guard !starts.isEmpty else { return nil }
        var json = JSONWriter()
        json.beginObject()
        for (index, start) in starts.enumerated() {
            let isLast = index + 1 == starts.count
            var value = body[start.valueIndex..<(isLast ? body.endIndex : starts[index + 1].index)]
            if !isLast { value = value.dropLast(Self.separator.count) }
            let text = String(decoding: value, as: UTF8.self)
            json.name(start.name)
            if text == "null" { json.null() } else { json.string(text) }
        }
        json.endObject()
        return try? JSONDocument(parsing: json.bytes).root
    }

    private struct Start {
        let name: String
        let index: Int
        let valueIndex: Int
    }

    /// Where each key's `key=` stands for the first time, at the beginning or after a comma.
    private static func starts(in body: ArraySlice<UInt8>) -> [Start] {
        var starts: [Start] = []
        var index = body.startIndex
        while index < body.endIndex {
            for name in keys where !starts.contains(where: { $0.name == name }) {
                let rest = body[index...]
                guard rest.starts(with: name.utf8), rest.dropFirst(name.utf8.count).first == UInt8(ascii: "=") else {
                    continue
                }
                starts.append(Start(name: name, index: index, valueIndex: index + name.utf8.count + 1))
            }
            index = boundary(in: body, after: index)
        }
        return starts
    }

    /// What follows the next comma and space.
    private static func boundary(in body: ArraySlice<UInt8>, after index: Int) -> Int {
        var index = index
        while let comma = body[index...].firstIndex(of: separator[0]) {
            index = comma + 1
            if body[index...].first == separator[1] { return index + 1 }
        }
        return body.endIndex
    }
}
