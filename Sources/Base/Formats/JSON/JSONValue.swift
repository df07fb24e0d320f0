/// A value of a `JSONDocument`: a place in its bytes, read on demand.
public struct JSONValue: Sendable {
    package let document: JSONDocument
    package let index: Int

    private var node: JSONDocument.Node { document.nodes[index] }

    /// The kind of value.
    package var kind: JSONDocument.Node.Kind { node.kind }

    // MARK: What it is

    /// Whether it is an object.
    public var isObject: Bool { node.kind == .object }
    /// Whether it is an array.
    public var isArray: Bool { node.kind == .array }
    /// Whether it is a string.
    public var isString: Bool { node.kind == .string }
    /// Whether it is a number.
    public var isNumber: Bool { node.kind == .number }
    /// Whether it is `null`.
    public var isNull: Bool { node.kind == .null }

    // MARK: Contents

    /// The string, or nil for any other kind.
    public var string: String? { isString ? Self.text(of: node, in: document.bytes) : nil }

    /// The boolean, or nil for any other kind.
    public var bool: Bool? {
        switch node.kind {
        case .true: true
        case .false: false
        default: nil
        }
    }

    /// The number, where it is written as an integer that fits: no fraction and no exponent.
    public var integer: Int64? {
        guard isNumber else { return nil }
        return Int64(String(decoding: rawBytes, as: UTF8.self))
    }

    /// The number, or nil for any other kind.
    public var number: Double? {
        guard isNumber else { return nil }
        return Double(String(decoding: rawBytes, as: UTF8.self)).flatMap { $0.isFinite ? $0 : nil }
    }

    /// The value's bytes as the document has them; for a string, without its quotation marks.
    public var rawBytes: ArraySlice<UInt8> { document.bytes[Int(node.start)..<Int(node.end)] }

    /// The value as JSON text of its own.
    public var json: [UInt8] {
        isString ? [UInt8(ascii: "\"")] + rawBytes + [UInt8(ascii: "\"")] : Array(rawBytes)
    }

    /// Line and column of the value in the text, both from 1; the column counts bytes.
    public var position: (line: Int, column: Int) {
        let start = Int(node.start) - (isString ? 1 : 0)
        let before = document.bytes[document.start..<start]
        let line = before.count { $0 == UInt8(ascii: "\n") } + 1
        let lineStart = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? document.start
        return (line, start - lineStart + 1)
    }

    // MARK: What is inside

    /// Returns the member of that name, where this is an object that has one.
    public subscript(name: String) -> JSONValue? {
        var name = name
        let member = name.withUTF8 { unsafe document.member($0, of: index) }
        return member.map { JSONValue(document: document, index: $0) }
    }

    /// The members in the order of the text; empty for anything but an object.
    public var members: [(name: String, value: JSONValue)] {
        guard isObject else { return [] }
        var members: [(name: String, value: JSONValue)] = []
        var at = index + 1
        while at < Int(node.next) {
            members.append(
                (Self.text(of: document.nodes[at], in: document.bytes), JSONValue(document: document, index: at + 1)))
            at = Int(document.nodes[at + 1].next)
        }
        return members
    }

    /// The elements in order; empty for anything but an array.
    public var elements: [JSONValue] {
        guard isArray else { return [] }
        var elements: [JSONValue] = []
        var at = index + 1
        while at < Int(node.next) {
            elements.append(JSONValue(document: document, index: at))
            at = Int(document.nodes[at].next)
        }
        return elements
    }

    // MARK: Text

    package static func text(of node: JSONDocument.Node, in bytes: [UInt8]) -> String {
        let place = Int(node.start)..<Int(node.end)
        if node.isEscaped { return unescaped(bytes[place]) }
        // The parser has refused what is not UTF-8. A string that is known to be ASCII is changed and compared faster.
        var text = unsafe UTF8Span(unchecked: bytes.span.extracting(place))
        _ = text.checkForASCII()
        return String(copying: text)
    }

    /// Decodes escapes the parser has already found well formed.
    private static func unescaped(_ raw: ArraySlice<UInt8>) -> String {
        var output: [UInt8] = []
        var at = raw.startIndex
        while at < raw.endIndex {
            guard raw[at] == UInt8(ascii: "\\") else {
                output.append(raw[at])
                at += 1
                continue
            }
            if let simple = simpleEscape(raw[at + 1]) {
                output.append(simple)
                at += 2
                continue
            }
            var scalar = hexUnit(raw[(at + 2)..<(at + 6)]) ?? 0xFFFD
            at += 6
            if (0xD800..<0xDC00).contains(scalar), let low = hexUnit(raw[(at + 2)..<(at + 6)]) {
                scalar = 0x10000 + ((scalar - 0xD800) << 10) + (low - 0xDC00)
                at += 6
            }
            output.append(contentsOf: String(Character(Unicode.Scalar(scalar) ?? "\u{FFFD}")).utf8)
        }
        return String(decoding: output, as: UTF8.self)
    }

    static func simpleEscape(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): byte
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "f"): 0x0C
        case UInt8(ascii: "n"): 0x0A
        case UInt8(ascii: "r"): 0x0D
        case UInt8(ascii: "t"): 0x09
        default: nil
        }
    }

    static func hexUnit(_ digits: ArraySlice<UInt8>) -> UInt32? {
        var unit: UInt32 = 0
        for digit in digits {
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): unit = unit << 4 | UInt32(digit - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"): unit = unit << 4 | UInt32(digit - UInt8(ascii: "a") + 10)
            case UInt8(ascii: "A")...UInt8(ascii: "F"): unit = unit << 4 | UInt32(digit - UInt8(ascii: "A") + 10)
            default: return nil
            }
        }
        return unit
    }
}
