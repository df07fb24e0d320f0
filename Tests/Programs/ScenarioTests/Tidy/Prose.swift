import Foundation

/// The prose of a file: the same bytes, with everything that no person reads masked as `|`. Offsets and lines stay those of the file.
struct Prose {
    enum Kind: UInt8 { case code, string, documentation, comment, name, page }

    /// The file's path below the repository's root.
    let path: String
    private let source: [UInt8]
    /// ASCII only, so an offset in it is an offset in the file.
    private(set) var text: [UInt8]
    private var kinds: [UInt8]
    /// The offsets of the first words of doc comments.
    private var openings: [Int] = []
    /// The offsets of the first words of names in backticks.
    private var names: [Int] = []

    /// Reads a Swift file.
    init(swift source: [UInt8], path: String) {
        self.path = path
        self.source = source
        text = [UInt8](repeating: UInt8(ascii: "|"), count: source.count)
        kinds = [UInt8](repeating: Kind.code.rawValue, count: source.count)
        var scanner = SwiftScanner(source)
        scanner.scan()
        for index in source.indices where source[index] == UInt8(ascii: "\n") || source[index] == UInt8(ascii: " ") {
            text[index] = source[index]
        }
        for passage in scanner.passages {
            keep(passage.range, as: passage.kind)
            // The marks of a comment are no words, and a sentence continues across them.
            if [.documentation, .comment].contains(passage.kind) { blank(passage.marks) }
            if passage.kind == .documentation { maskCode(in: passage.range) }
            if passage.opens { openings.append(passage.range.lowerBound) }
            if passage.kind == .name { names.append(passage.range.lowerBound) }
        }
    }

    /// Reads a page or a file of rules.
    init(page source: [UInt8], path: String) {
        self.path = path
        self.source = source
        text = source.map { $0 < 128 ? $0 : UInt8(ascii: "|") }
        kinds = [UInt8](repeating: Kind.page.rawValue, count: source.count)
        maskCode(in: source.indices)
        guard path.hasSuffix(".yaml") else { return }
        // The keys of a YAML file are no prose.
        for index in source.indices where source[index] == UInt8(ascii: ":") {
            let key = source[..<index].lastIndex { !SwiftScanner.isWord($0) }.map { $0 + 1 } ?? 0
            blank(key..<index, with: UInt8(ascii: "|"))
        }
    }

    /// Masks the code of `range` between backticks that has no space, such as a key, a metric or a parameter's name.
    private mutating func maskCode(in range: Range<Int>) {
        var open: Int?
        var spaces = 0
        for index in range {
            switch source[index] {
            case UInt8(ascii: "`"):
                if let start = open, spaces == 0 { blank(start..<index, with: UInt8(ascii: "|")) }
                open = open == nil ? index : nil
                spaces = 0
            case UInt8(ascii: "\n"): open = nil
            case UInt8(ascii: " "): spaces += 1
            default: break
            }
        }
    }

    private mutating func keep(_ range: Range<Int>, as kind: Kind) {
        for index in range {
            text[index] = source[index] < 128 ? source[index] : UInt8(ascii: "|")
            kinds[index] = kind.rawValue
        }
    }

    private mutating func blank(_ range: Range<Int>, with byte: UInt8 = UInt8(ascii: " ")) {
        for index in range { text[index] = byte }
    }

    func kind(at offset: Int) -> Kind { Kind(rawValue: kinds[offset]) ?? .code }

    /// The first words of all doc comments, with their offsets.
    var firstWordsOfDocumentation: [(word: String, offset: Int)] { openings.map { (word(at: $0), $0) } }

    /// The first words of all names that are sentences, which only tests have.
    var firstWordsOfNames: [(word: String, offset: Int)] { names.map { (word(at: $0), $0) } }

    private func word(at offset: Int) -> String {
        var start = offset
        while start < source.count, [UInt8(ascii: " "), UInt8(ascii: "/")].contains(source[start]) { start += 1 }
        var end = start
        while end < source.count, SwiftScanner.isWord(source[end]) { end += 1 }
        return String(decoding: source[start..<end], as: UTF8.self)
    }

    // MARK: Lines

    var lineCount: Int { source.count { $0 == UInt8(ascii: "\n") } }

    func line(of offset: Int) -> Int { source[..<offset].count { $0 == UInt8(ascii: "\n") } + 1 }

    /// The whole line around `offset`.
    func excerpt(at offset: Int) -> String {
        let start = source[..<offset].lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        let end = source[offset...].firstIndex(of: UInt8(ascii: "\n")) ?? source.count
        return String(decoding: source[start..<end], as: UTF8.self).trimmingCharacters(in: .whitespaces)
    }

    /// Whether the line at `offset` has neither a comment nor a string nor a regular expression, which the formatter does not break.
    func isCode(lineAt offset: Int) -> Bool {
        let end = source[offset...].firstIndex(of: UInt8(ascii: "\n")) ?? source.count
        let literals = [UInt8(ascii: "\""), UInt8(ascii: "/")]
        return (offset..<end).allSatisfy { kind(at: $0) == .code && !literals.contains(source[$0]) }
    }

    /// The offsets of lines of more than `limit` characters.
    func linesLonger(than limit: Int) -> [Int] {
        var found: [Int] = []
        var start = 0
        var length = 0
        for (index, byte) in source.enumerated() {
            if byte == UInt8(ascii: "\n") {
                // The formatter does not count the comma at a line's end.
                if index > 0, source[index - 1] == UInt8(ascii: ",") { length -= 1 }
                if length > limit { found.append(start) }
                (start, length) = (index + 1, 0)
            } else if byte & 0xC0 != 0x80 {
                length += 1
            }
        }
        return found
    }
}
