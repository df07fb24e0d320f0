import YAMLReading
import Yams

/// A file's text before anything is made of it: how large and how deep it may be.
enum DescriptionText {
    /// The largest file, in bytes. The longest of the shipped ones has a twentieth of it.
    static let largest = 256 << 10
    /// The largest number of open brackets, and of levels by which nested lists indent a line.
    private static let deepest = 64
    /// The largest number of nodes in a file, with its aliases expanded.
    private static let mostNodes = 50_000

    /// Returns the root of `text`; nil where it has errors, which `diagnostics` then has.
    static func root(of text: String, _ diagnostics: Diagnostics) -> Node? {
        guard text.utf8.count <= largest else {
            diagnostics.error(nil, "the file is larger than \(largest >> 10) kB; a vendor's rules take far less")
            return nil
        }
        if let line = tooDeepLine(of: text) {
            diagnostics.append(line: line, column: 1, "more than \(deepest) levels; no report or token is so deep")
            return nil
        }
        guard let root = compose(text, diagnostics) else { return nil }
        var budget = mostNodes
        if let place = overdrawn(root, &budget) {
            diagnostics.error(place, "aliases stand for more than \(mostNodes) values; write out what is meant")
            return nil
        }
        return root
    }

    private static func compose(_ text: String, _ diagnostics: Diagnostics) -> Node? {
        do {
            if let root = try Yams.compose(yaml: text) { return root }
            diagnostics.error(nil, "the file is empty")
        } catch let error as YamlError {
            diagnostics.syntax(error)
        } catch {
            diagnostics.error(nil, "not YAML")
        }
        return nil
    }

    /// Returns the node at which a walk has seen more than `budget`; nil where all are within it.
    private static func overdrawn(_ node: Node, _ budget: inout Int) -> Node? {
        budget -= 1
        guard budget >= 0 else { return node }
        switch node {
        case .mapping(let mapping):
            for (key, value) in mapping {
                if let found = overdrawn(key, &budget) ?? overdrawn(value, &budget) { return found }
            }
        case .sequence(let sequence):
            for element in sequence { if let found = overdrawn(element, &budget) { return found } }
        case .scalar, .alias: break
        }
        return nil
    }

    /// Returns the first line with more levels than allowed. Brackets, indentation and dashes make levels; brackets in
    /// texts may count too, but no honest file has that many.
    private static func tooDeepLine(of text: String) -> Int? {
        var line = 1, open = 0, dashes = 0
        var isLineStart = true
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\n"):
                line += 1
                dashes = 0
                isLineStart = true
                continue
            case UInt8(ascii: "["), UInt8(ascii: "{"): open += 1
            case UInt8(ascii: "]"), UInt8(ascii: "}"): open = max(0, open - 1)
            case UInt8(ascii: "-"), UInt8(ascii: "?"), UInt8(ascii: ":"): if isLineStart { dashes += 1 }
            case UInt8(ascii: " "), UInt8(ascii: "\t"): if isLineStart { dashes += 1 }
            default: isLineStart = false
            }
            // An indented line of a long text is far to the right; a level takes one column at least.
            if open > deepest || dashes > 4 * deepest { return line }
        }
        return nil
    }
}
