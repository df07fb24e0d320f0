package import Yams

/// The text of a file before anything is made of it. Whatever makes a tree cost more than its text is refused first: size, depth,
/// and aliases in keys, each of which is compared with all keys beside it.
package enum YAMLText {
    /// Returns the root of `text`; nil where it has errors, which `diagnostics` then has.
    ///
    /// - Parameters:
    ///   - largest: The largest text, in bytes.
    ///   - mostNodes: The largest number of nodes, with all aliases expanded; nil where the caller bounds them.
    ///   - sample: The place of an example, for the error about an empty file.
    package static func root(
        of text: String, largest: Int, mostNodes: Int? = nil, sample: String, _ diagnostics: Diagnostics
    ) -> Node? {
        guard text.utf8.count <= largest else {
            diagnostics.error(
                nil, "the file is larger than \(largest >> 10) kB; split it, or remove what nothing reads")
            return nil
        }
        var scan = Scan(text)
        if let fault = scan.fault() {
            diagnostics.append(line: scan.line, column: 1, fault)
            return nil
        }
        guard let root = compose(text, sample, diagnostics) else { return nil }
        guard let mostNodes else { return root }
        var budget = mostNodes
        if let place = overdrawn(root, &budget) {
            diagnostics.error(place, "aliases stand for more than \(mostNodes) values; write out what is meant")
            return nil
        }
        return root
    }

    private static func compose(_ text: String, _ sample: String, _ diagnostics: Diagnostics) -> Node? {
        do {
            if let root = try Yams.compose(yaml: text) { return root }
            diagnostics.error(nil, "the file is empty; \(sample)")
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
}

/// A walk over the bytes of a file. It knows comments and the strings of one line; in a string of several lines, brackets count as well,
/// but no honest file has that many.
private struct Scan {
    /// The largest number of open brackets, and of levels by which nested lists indent a line.
    private static let deepest = 64

    private(set) var line = 1
    private let bytes: [UInt8]
    private var at = 0
    /// Whether each open bracket has an alias in it.
    private var open: [Bool] = []
    /// Whether there is an anchor, without which there is no alias.
    private let hasAnchor: Bool

    init(_ text: String) {
        bytes = Array(text.utf8)
        hasAnchor = bytes.contains(UInt8(ascii: "&"))
    }

    /// Returns the reason not to compose the text; nil where there is none.
    mutating func fault() -> String? {
        var marks = 0, isLineStart = true
        while at < bytes.count {
            let byte = bytes[at], isToken = at == 0 || Self.isBoundary(bytes[at - 1])
            defer { at += 1 }
            switch byte {
            case UInt8(ascii: "\n"):
                line += 1
                marks = 0
                isLineStart = true
                continue
            case UInt8(ascii: "#") where isToken: skip(to: UInt8(ascii: "\n"))
            case UInt8(ascii: "\""), UInt8(ascii: "'"): if isToken { skip(to: byte) }
            case UInt8(ascii: "["), UInt8(ascii: "{"): open.append(false)
            case UInt8(ascii: "]"), UInt8(ascii: "}"):
                if open.popLast() == true, note(aliasBefore: at + 1) { return Self.aliasInKey }
            case UInt8(ascii: "*") where isToken && hasAnchor:
                let end = bytes[(at + 1)...].firstIndex { !Self.isName($0) } ?? bytes.count
                if note(aliasBefore: end) { return Self.aliasInKey }
            case UInt8(ascii: "?") where isToken && hasAnchor && next(after: at + 1) != at + 1: return Self.aliasInKey
            default: break
            }
            // An indented line of a long text is far to the right; a level takes one column at least.
            if isLineStart, Self.levelMarks.contains(byte) { marks += 1 } else { isLineStart = false }
            if open.count > Self.deepest || marks > 4 * Self.deepest {
                return "more than \(Self.deepest) levels; write fewer inside each other"
            }
        }
        return nil
    }

    private static let aliasInKey = "an alias is a key or a part of one; write the key out"
    private static let levelMarks = Set("-?: \t".utf8)

    /// Notes an alias that ends before `end` in the bracket that is open. Returns whether it is a key.
    private mutating func note(aliasBefore end: Int) -> Bool {
        if !open.isEmpty { open[open.count - 1] = true }
        let next = next(after: end)
        return next < bytes.count && bytes[next] == UInt8(ascii: ":")
    }

    /// Returns the place of the first byte from `start` on that is no blank.
    private func next(after start: Int) -> Int {
        bytes[min(start, bytes.count)...].firstIndex { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }
            ?? bytes.count
    }

    /// Goes to `mark`, or to the last byte of the line where it is not there.
    private mutating func skip(to mark: UInt8) {
        var place = at + 1
        while place < bytes.count, bytes[place] != mark, bytes[place] != UInt8(ascii: "\n") {
            place += bytes[place] == UInt8(ascii: "\\") && mark == UInt8(ascii: "\"") ? 2 : 1
        }
        let isMark = place < bytes.count && bytes[place] == mark && mark != UInt8(ascii: "\n")
        at = min(isMark ? place : place - 1, bytes.count - 1)
    }

    private static func isBoundary(_ byte: UInt8) -> Bool { boundaries.contains(byte) }
    private static let boundaries = Set(" \t\r\n[{,".utf8)

    private static func isName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
            true
        default: false
        }
    }
}
