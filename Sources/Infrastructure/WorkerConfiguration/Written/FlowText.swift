import Yams

/// Values of YAML on one line, as they can be read again.
enum FlowText {
    /// Returns the value of `node`: a string, a list or a mapping.
    static func text(of node: Node) -> String {
        switch node {
        case .scalar(let scalar): Self.scalar(scalar.string)
        case .sequence(let sequence): "[\(sequence.map(text).joined(separator: ", "))]"
        case .mapping(let mapping) where mapping.isEmpty: "{}"
        case .mapping(let mapping):
            "{ \(mapping.map { "\(text(of: $0.key)): \(text(of: $0.value))" }.joined(separator: ", ")) }"
        case .alias: "null"
        }
    }

    /// Returns `text`, in quotes where it would mean something else without.
    static func scalar(_ text: String) -> String { isPlain(text) ? text : quoted(text) }

    /// Returns whether `text` needs no quotes as a value. A number or a word such as true needs none: the reader knows
    /// the key's type.
    private static func isPlain(_ text: String) -> Bool {
        let isSafe = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: "_./:@%+-()=;".utf8.contains(byte)
            }
        }
        guard isSafe, let first = text.utf8.first, let last = text.utf8.last else { return false }
        return !"-:%@=;".utf8.contains(first) && last != UInt8(ascii: ":") && !["null", "Null", "NULL"].contains(text)
    }

    /// Returns `text` in double quotes, which can hold any text (YAML 1.2, section 5.7).
    private static func quoted(_ text: String) -> String {
        var output = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": output += "\\\(scalar)"
            case "\n": output += "\\n"
            case "\t": output += "\\t"
            case _
            where scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value) || scalar.value > 0xFFFF
                || [0x2028, 0x2029, 0xFEFF].contains(scalar.value):
                let digits = String(scalar.value, radix: 16, uppercase: true)
                output += "\\U" + String(repeating: "0", count: 8 - digits.count) + digits
            default: output.unicodeScalars.append(scalar)
            }
        }
        return output + "\""
    }
}
