import Foundation

/// The passages of a file that people read: strings, doc comments, names that are sentences, and pages.
struct Prose {
    enum Kind { case string, documentation, name, page }

    /// A part of the file, in ASCII. Everything that no person reads in it is `|`.
    struct Passage {
        let kind: Kind
        let line: Int
        let text: String

        /// The first word, in whatever marks.
        var firstWord: Substring { text.drop { !$0.isLetter }.prefix(while: \.isLetter) }
    }

    struct Finding {
        let rule: TidyRule
        let place: String
        let excerpt: String

        var text: String { "\(place): \"\(rule.pattern)\": \(rule.advice): \(excerpt)" }
    }

    /// The file's path below the repository's root.
    let path: String
    let lines: [Substring]
    private(set) var passages: [Passage] = []

    /// A comment, a string, or a name in backticks.
    private static let token = Self.expression(
        ##"//[^\n]*|(#+)"(?:(?!"\1)[\s\S])*"\1|"""[\s\S]*?"""|"(?:\\.|[^"\\\n])*"|`[^`\n]+`"##)
    /// An interpolation in a string, with up to three brackets in it.
    private static let interpolation = Self.expression(
        ##"\\#*\((?:[^()]|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))*\)"##)

    private static func expression(_ pattern: String) -> Result<NSRegularExpression, any Error> {
        Result { try NSRegularExpression(pattern: pattern) }
    }

    init(swift source: String, path: String) throws {
        self.path = path
        lines = source.split(separator: "\n", omittingEmptySubsequences: false)
        var text = Self.ascii(source)
        for match in try Self.interpolation.get().matches(
            in: text, range: NSRange(location: 0, length: text.utf8.count)
        ).reversed() {
            guard let range = Range(match.range, in: text) else { continue }
            text.replaceSubrange(range, with: "|" + text[range].filter { $0 == "\n" })
        }
        var (line, end) = (1, text.startIndex)
        for match in try Self.token.get().matches(in: text, range: NSRange(location: 0, length: text.utf8.count)) {
            guard let range = Range(match.range, in: text) else { continue }
            let between = text[end..<range.lowerBound]
            line += between.count { $0 == "\n" }
            add(
                text[range], line: line, isNext: between.allSatisfy(\.isWhitespace) && between.count { $0 == "\n" } == 1
            )
            line += text[range].count { $0 == "\n" }
            end = range.upperBound
        }
    }

    /// - Parameter isNext: whether the part is on the line behind the one before, and nothing else is between them.
    private mutating func add(_ part: Substring, line: Int, isNext: Bool) {
        if part.hasPrefix("///"), !part.hasPrefix("////") {
            let words = Self.withoutCode(part.dropFirst(3))
            if isNext, let last = passages.last, last.kind == .documentation,
                last.line + last.text.count(where: { $0 == "\n" }) == line - 1
            {
                passages[passages.count - 1] = Passage(
                    kind: .documentation, line: last.line, text: "\(last.text)\n\(words)")
            } else {
                passages.append(Passage(kind: .documentation, line: line, text: words))
            }
        } else if !part.hasPrefix("//"), part.contains(" ") {
            // Without a space it is a key, a path, a number or a keyword.
            let isName = part.hasPrefix("`")
            passages.append(
                Passage(kind: isName ? .name : .string, line: line, text: "|" + part.drop { "#\"`".contains($0) }))
        }
    }

    /// Reads a page or a file of rules.
    init(page source: String, path: String) {
        self.path = path
        lines = source.split(separator: "\n", omittingEmptySubsequences: false)
        var text = Self.withoutCode(Self.ascii(source)[...])
        // The keys of a YAML file are no prose.
        if path.hasSuffix(".yaml") { text = text.replacing(/\w+:/, with: "|") }
        passages = [Passage(kind: .page, line: 1, text: text)]
    }

    private static func ascii(_ text: String) -> String {
        String(decoding: text.utf8.map { $0 < 128 ? $0 : UInt8(ascii: "|") }, as: UTF8.self)
    }

    /// Masks the code between backticks that has no space, such as a key, a metric or a parameter's name.
    private static func withoutCode(_ text: Substring) -> String { String(text.replacing(/`[^`\s]+`/, with: "|")) }

    /// The strings of the program: help, errors and log lines.
    var programStrings: [Passage] { path.contains("Tests/") ? [] : passages.filter { $0.kind == .string } }

    /// Returns the places that break one of `rules`.
    func findings(of rules: TidyRules, in passages: [Passage]? = nil) -> [Finding] {
        (passages ?? self.passages).flatMap { passage in
            rules.matches(in: passage.text).map { rule, offset in
                let line = passage.line + passage.text.utf8.prefix(offset).count { $0 == UInt8(ascii: "\n") }
                return Finding(rule: rule, place: "\(path):\(line)", excerpt: String(lines[line - 1]))
            }
        }
    }
}

/// A pattern that no prose of the repository may have, and the advice for an author who wrote it.
struct TidyRule: Sendable {
    /// A regular expression, matched in either case between word boundaries.
    let pattern: String
    let advice: String

    init(_ pattern: String, _ advice: String) {
        self.pattern = pattern
        self.advice = advice
    }
}

/// Rules as one regular expression, so that a file is read once for all of them.
struct TidyRules {
    private let rules: [TidyRule]
    private let expression: NSRegularExpression

    init(_ rules: [TidyRule]) throws {
        self.rules = rules
        let groups = rules.map { "(\($0.pattern.replacing(" ", with: #"\s{1,80}"#)))" }
        expression = try NSRegularExpression(
            pattern: "\\b(?:\(groups.joined(separator: "|")))(?![A-Za-z0-9_])", options: .caseInsensitive)
    }

    func matches(in text: String) -> [(rule: TidyRule, offset: Int)] {
        expression.matches(in: text, range: NSRange(location: 0, length: text.utf8.count)).compactMap { match in
            rules.indices.first { match.range(at: $0 + 1).location != NSNotFound }.map {
                (rules[$0], match.range.location)
            }
        }
    }
}
