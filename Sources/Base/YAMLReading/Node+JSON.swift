import Formats
package import Yams

extension Node {
    /// Returns the node as JSON: plain words are numbers, booleans and null where JSON has them as such, quoted ones
    /// are strings.
    ///
    /// - Returns: nil for a mapping with keys that are no texts, and for a number that JSON cannot write.
    package func json() -> [UInt8]? {
        var writer = JSONWriter(capacity: 64)
        return write(to: &writer) ? writer.bytes : nil
    }

    private func write(to json: inout JSONWriter) -> Bool {
        switch self {
        case .scalar(let scalar):
            if let word = scalar.jsonWord { json.raw(word) } else { json.string(scalar.string) }
            return true
        case .sequence(let sequence):
            json.beginArray()
            for element in sequence { guard element.write(to: &json) else { return false } }
            json.endArray()
            return true
        case .mapping(let mapping):
            json.beginObject()
            var names: Set<String> = []
            for (key, value) in mapping {
                guard let name = key.scalar?.string, names.insert(name).inserted else { return false }
                json.name(name)
                guard value.write(to: &json) else { return false }
            }
            json.endObject()
            return true
        case .alias: return false
        }
    }
}

extension Node.Scalar {
    /// The JSON word or number that a plain scalar is; nil for a string.
    package var jsonWord: String? {
        guard style == .plain || style == .any else { return nil }
        switch string {
        case "true", "false", "null": return string
        case "~", "": return "null"
        default:
            guard string.utf8.count <= 32, let first = string.utf8.first,
                first == UInt8(ascii: "-") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first),
                let root = try? JSONDocument(parsing: Array(string.utf8)).root, root.isNumber
            else { return nil }
            return string
        }
    }
}
