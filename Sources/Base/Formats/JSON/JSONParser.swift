/// A single pass over a JSON text (RFC 8259), without recursion: depth costs a stack entry, not a stack frame.
struct JSONParser {
    private let bytes: [UInt8]
    private let text: Range<Int>
    private let limits: JSONDocument.Limits
    private var position: Int
    /// The innermost container without an end yet. Until it has an end, its `next` holds the container around it.
    private var open = noContainer
    private var depth = 0
    private(set) var nodes: [JSONDocument.Node] = []

    private static let noContainer = -1

    /// Parses the range `text` of `bytes`, with the memory of `spent`, which it takes.
    init(
        _ bytes: [UInt8], in text: Range<Int>, _ limits: JSONDocument.Limits, reusing spent: inout [JSONDocument.Node]
    ) {
        swap(&nodes, &spent)
        nodes.removeAll(keepingCapacity: true)
        self.bytes = bytes
        self.text = text.clamped(to: 0..<bytes.count)
        self.limits = limits
        position = self.text.lowerBound
        // A value takes some 12 bytes in the texts we meet; one guess spares the array's early growth.
        nodes.reserveCapacity(min(self.text.count / 12 + 4, 4096))
    }

    mutating func parse() throws(JSONError) {
        // What stands around the text counts as well: nodes hold their places in all of the bytes.
        guard text.count <= limits.bytes, text.upperBound <= Int32.max else { throw .tooLarge(limit: limits.bytes) }
        skipWhiteSpace()
        guard position < text.upperBound else { throw .empty }
        try value()
        while open != Self.noContainer {
            try nodes[open].kind == .object ? member(of: open) : element(of: open)
        }
        skipWhiteSpace()
        guard position == text.upperBound else { throw .syntax(at: place) }
    }

    /// The parser's place in the text.
    private var place: Int { position - text.lowerBound }

    // MARK: Containers

    /// Parses the next member of an open object, or its end.
    private mutating func member(of container: Int) throws(JSONError) {
        skipWhiteSpace()
        let isFirst = nodes.count == container + 1
        if take(UInt8(ascii: "}")) { return try close(container) }
        if !isFirst {
            try expect(UInt8(ascii: ","))
            skipWhiteSpace()
        }
        guard peek() == UInt8(ascii: "\"") else { throw .syntax(at: place) }
        try string()
        skipWhiteSpace()
        try expect(UInt8(ascii: ":"))
        skipWhiteSpace()
        try value()
    }

    /// Parses the next element of an open array, or its end.
    private mutating func element(of container: Int) throws(JSONError) {
        skipWhiteSpace()
        let isFirst = nodes.count == container + 1
        if take(UInt8(ascii: "]")) { return try close(container) }
        if !isFirst {
            try expect(UInt8(ascii: ","))
            skipWhiteSpace()
        }
        try value()
    }

    private mutating func close(_ container: Int) throws(JSONError) {
        open = Int(nodes[container].next)
        depth -= 1
        nodes[container].end = Int32(position)
        nodes[container].next = Int32(nodes.count)
        if nodes[container].kind == .object, !limits.allowsDuplicates { try refuseDuplicates(in: container) }
    }

    private func refuseDuplicates(in container: Int) throws(JSONError) {
        var count = 0
        var isEscaped = false
        var name = container + 1
        let end = Int(nodes[container].next)
        while name < end {
            count += 1
            isEscaped = isEscaped || nodes[name].isEscaped
            name = memberAfter(name)
        }
        if count > 12 || isEscaped { return try refuseDuplicatesByText(in: container) }
        // Few names are compared with one another, without a place to note them.
        var later = container + 1
        while later < end {
            var earlier = container + 1
            while earlier < later {
                if sameBytes(later, earlier) { throw .duplicateMember(at: Int(nodes[later].start) - text.lowerBound) }
                earlier = memberAfter(earlier)
            }
            later = memberAfter(later)
        }
    }

    private func refuseDuplicatesByText(in container: Int) throws(JSONError) {
        // By bytes: a string's own `==` would also take two spellings of one accented letter for duplicates.
        var seen: Set<[UInt8]> = []
        var name = container + 1
        while name < Int(nodes[container].next) {
            guard seen.insert(Array(JSONValue.text(of: nodes[name], in: bytes).utf8)).inserted else {
                throw .duplicateMember(at: Int(nodes[name].start) - text.lowerBound)
            }
            name = memberAfter(name)
        }
    }

    /// Returns the name that follows the member with this name.
    private func memberAfter(_ name: Int) -> Int { Int(nodes[name + 1].next) }

    private func sameBytes(_ left: Int, _ right: Int) -> Bool {
        let a = nodes[left], b = nodes[right]
        guard a.end - a.start == b.end - b.start else { return false }
        return bytes[Int(a.start)..<Int(a.end)] == bytes[Int(b.start)..<Int(b.end)]
    }

    // MARK: Values

    private mutating func value() throws(JSONError) {
        guard let byte = peek() else { throw .syntax(at: place) }
        switch byte {
        case UInt8(ascii: "{"): try begin(.object)
        case UInt8(ascii: "["): try begin(.array)
        case UInt8(ascii: "\""): try string()
        case UInt8(ascii: "t"): try literal("true", .true)
        case UInt8(ascii: "f"): try literal("false", .false)
        case UInt8(ascii: "n"): try literal("null", .null)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): try number()
        default: throw .syntax(at: place)
        }
    }

    private mutating func begin(_ kind: JSONDocument.Node.Kind) throws(JSONError) {
        guard depth < limits.depth else { throw .tooDeep(limit: limits.depth) }
        nodes.append(.init(kind: kind, start: Int32(position), end: 0, next: Int32(open)))
        open = nodes.count - 1
        depth += 1
        position += 1
    }

    private mutating func leaf(_ kind: JSONDocument.Node.Kind, from start: Int, to end: Int, isEscaped: Bool = false) {
        nodes.append(
            .init(kind: kind, isEscaped: isEscaped, start: Int32(start), end: Int32(end), next: Int32(nodes.count + 1)))
    }

    private mutating func literal(_ text: StaticString, _ kind: JSONDocument.Node.Kind) throws(JSONError) {
        let start = position
        for byte in text.description.utf8 {
            guard take(byte) else { throw .syntax(at: place) }
        }
        leaf(kind, from: start, to: position)
    }

    private mutating func number() throws(JSONError) {
        let start = position
        _ = take(UInt8(ascii: "-"))
        if !take(UInt8(ascii: "0")) { try digits() }
        if take(UInt8(ascii: ".")) { try digits() }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
            try digits()
        }
        leaf(.number, from: start, to: position)
    }

    private mutating func digits() throws(JSONError) {
        let start = position
        while let byte = peek(), (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { position += 1 }
        guard position > start else { throw .syntax(at: place) }
    }

    private mutating func string() throws(JSONError) {
        position += 1
        let start = position
        var isEscaped = false
        while true {
            skipPlain()
            guard let byte = peek() else { throw .syntax(at: place) }
            switch byte {
            case UInt8(ascii: "\""):
                leaf(.string, from: start, to: position, isEscaped: isEscaped)
                position += 1
                return
            case UInt8(ascii: "\\"):
                isEscaped = true
                try escape()
            case 0..<0x20: throw .syntax(at: place)
            default: try multibyte(byte)
            }
        }
    }

    /// Skips the plain bytes, eight at a time: most of a document is inside strings.
    private mutating func skipPlain() {
        let end = text.upperBound
        position = unsafe bytes.withUnsafeBytes { bytes in
            var at = position
            while end - at >= 8 {
                let word = unsafe UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: at, as: UInt64.self))
                let special = JSONText.marks(in: word) | word & 0x8080_8080_8080_8080
                if special != 0 { return at + special.trailingZeroBitCount / 8 }
                at += 8
            }
            while at < end, unsafe !Self.isSpecial(bytes[at]) { at += 1 }
            return at
        }
    }

    /// Returns whether `byte` ends a stretch of plain bytes in a string.
    private static func isSpecial(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte >= 0x80 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    private mutating func escape() throws(JSONError) {
        position += 1
        switch peek() {
        case UInt8(ascii: "u"):
            position += 1
            let unit = try hexUnit()
            if (0xD800..<0xDC00).contains(unit) {
                try expect(UInt8(ascii: "\\"))
                try expect(UInt8(ascii: "u"))
                let at = place
                guard (0xDC00..<0xE000).contains(try hexUnit()) else { throw .syntax(at: at) }
            } else if (0xDC00..<0xE000).contains(unit) {
                throw .syntax(at: place)
            }
        case .some(let byte) where JSONValue.simpleEscape(byte) != nil: position += 1
        default: throw .syntax(at: place)
        }
    }

    private mutating func hexUnit() throws(JSONError) -> UInt32 {
        guard position + 4 <= text.upperBound, let unit = JSONValue.hexUnit(bytes[position..<position + 4]) else {
            throw .syntax(at: place)
        }
        position += 4
        return unit
    }

    /// Parses a character beyond ASCII, by table 3-7 of the Unicode standard (RFC 3629, section 4).
    private mutating func multibyte(_ lead: UInt8) throws(JSONError) {
        let second: ClosedRange<UInt8>
        let count: Int
        switch lead {
        case 0xC2...0xDF: (second, count) = (0x80...0xBF, 2)
        case 0xE0: (second, count) = (0xA0...0xBF, 3)
        case 0xED: (second, count) = (0x80...0x9F, 3)
        case 0xE1...0xEF: (second, count) = (0x80...0xBF, 3)
        case 0xF0: (second, count) = (0x90...0xBF, 4)
        case 0xF1...0xF3: (second, count) = (0x80...0xBF, 4)
        case 0xF4: (second, count) = (0x80...0x8F, 4)
        default: throw .invalidUTF8(at: place)
        }
        guard position + count <= text.upperBound, second.contains(bytes[position + 1]),
            bytes[(position + 2)..<max(position + count, position + 2)].allSatisfy({ (0x80...0xBF).contains($0) })
        else { throw .invalidUTF8(at: place) }
        position += count
    }

    // MARK: Bytes

    private func peek() -> UInt8? { position < text.upperBound ? bytes[position] : nil }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard peek() == byte else { return false }
        position += 1
        return true
    }

    private mutating func expect(_ byte: UInt8) throws(JSONError) {
        guard take(byte) else { throw .syntax(at: place) }
    }

    private mutating func skipWhiteSpace() {
        while let byte = peek(), byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
    }
}
