/// Finds the passages of a Swift file that people read: strings, comments, and names that are sentences.
struct SwiftScanner {
    struct Passage {
        let kind: Prose.Kind
        let range: Range<Int>
        /// The slashes of a comment.
        var marks = 0..<0
        /// Whether a doc comment begins here.
        var opens = false
    }

    private let source: [UInt8]
    private var index = 0
    private(set) var passages: [Passage] = []

    init(_ source: [UInt8]) { self.source = source }

    static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    mutating func scan() { scanCode(untilParenthesis: false) }

    private func byte(at place: Int) -> UInt8 { place < source.count ? source[place] : 0 }

    private func end(ofLineAt place: Int) -> Int {
        var end = place
        while end < source.count, source[end] != UInt8(ascii: "\n") { end += 1 }
        return end
    }

    private mutating func scanCode(untilParenthesis: Bool) {
        var depth = 0
        while index < source.count {
            switch source[index] {
            case UInt8(ascii: "/") where byte(at: index + 1) == UInt8(ascii: "/"): scanComment()
            case UInt8(ascii: "\""): scanString(pounds: 0)
            case UInt8(ascii: "#"): scanPounds()
            case UInt8(ascii: "`"): scanName()
            case UInt8(ascii: "("):
                depth += 1
                index += 1
            case UInt8(ascii: ")"):
                index += 1
                if untilParenthesis, depth == 0 { return }
                depth -= 1
            default: index += 1
            }
        }
    }

    private mutating func scanComment() {
        let start = index
        index = end(ofLineAt: start)
        let isDocumentation = byte(at: start + 2) == UInt8(ascii: "/") && byte(at: start + 3) != UInt8(ascii: "/")
        let words = start + (isDocumentation ? 3 : 2)
        passages.append(
            Passage(
                kind: isDocumentation ? .documentation : .comment, range: start..<index,
                marks: start..<min(words, index), opens: false))
        if isDocumentation, !follows(documentationBefore: start) {
            passages[passages.count - 1].opens = true
        }
    }

    /// Whether only white space lies between `start` and the doc comment on the line before.
    private func follows(documentationBefore start: Int) -> Bool {
        guard let last = passages.dropLast().last, last.kind == .documentation else { return false }
        return source[last.range.upperBound..<start].allSatisfy { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: " ") }
            && source[last.range.upperBound..<start].count { $0 == UInt8(ascii: "\n") } == 1
    }

    private mutating func scanPounds() {
        var pounds = 0
        while byte(at: index + pounds) == UInt8(ascii: "#") { pounds += 1 }
        index += pounds
        if byte(at: index) == UInt8(ascii: "\"") { scanString(pounds: pounds) }
    }

    /// A name in backticks, if it has a space: a keyword's backticks and those of a regular expression are skipped.
    private mutating func scanName() {
        let start = index + 1
        var end = start
        var spaces = 0
        while end < source.count, source[end] != UInt8(ascii: "`"), source[end] != UInt8(ascii: "\n") {
            if source[end] == UInt8(ascii: " ") { spaces += 1 }
            end += 1
        }
        guard byte(at: end) == UInt8(ascii: "`") else { return index += 1 }
        if spaces > 0 { passages.append(Passage(kind: .name, range: start..<end)) }
        index = end + 1
    }

    private mutating func scanString(pounds: Int) {
        let quotes = byte(at: index + 1) == UInt8(ascii: "\"") && byte(at: index + 2) == UInt8(ascii: "\"") ? 3 : 1
        index += quotes
        var start = index
        var pieces: [Range<Int>] = []
        while index < source.count {
            if source[index] == UInt8(ascii: "\n"), quotes == 1 { break }
            if closes(quotes: quotes, pounds: pounds) { break }
            guard source[index] == UInt8(ascii: "\\"), has(pounds: pounds, at: index + 1) else {
                index += 1
                continue
            }
            let escape = index
            index += 1 + pounds
            if byte(at: index) == UInt8(ascii: "(") {
                pieces.append(start..<escape)
                index += 1
                scanCode(untilParenthesis: true)
                start = index
            } else {
                index += 1
            }
        }
        pieces.append(start..<min(index, source.count))
        index = min(index + quotes + pounds, source.count)
        // A string without a space is a key, a path or a number.
        guard pieces.contains(where: { source[$0].contains(UInt8(ascii: " ")) }) else { return }
        passages += pieces.map { Passage(kind: .string, range: $0) }
    }

    private func has(pounds: Int, at place: Int) -> Bool {
        (0..<pounds).allSatisfy { byte(at: place + $0) == UInt8(ascii: "#") }
    }

    private func closes(quotes: Int, pounds: Int) -> Bool {
        (0..<quotes).allSatisfy { byte(at: index + $0) == UInt8(ascii: "\"") }
            && has(pounds: pounds, at: index + quotes)
    }
}
