import Foundation

/// A pattern that no prose of the repository may have, and the advice for an author who wrote it.
struct TidyRule: Sendable {
    /// The parts of the repository that findings are sorted by.
    enum Scope: String, CaseIterable {
        /// Strings of the program: help, errors, log lines.
        case program
        /// Doc comments outside the tests.
        case documentation
        /// Names, strings and doc comments of tests.
        case tests
        /// Pages, alerts and samples.
        case pages
    }

    /// A place that breaks a rule.
    struct Finding {
        let rule: String
        let scope: Scope
        let path: String
        let line: Int
        let excerpt: String
        let advice: String

        var text: String { "\(path):\(line): \"\(rule)\": \(advice): \(excerpt)" }
    }

    /// The pattern as a regular expression, matched in either case between word boundaries.
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

    /// The places of `prose` that break a rule. A comment that documents nothing is not judged.
    func findings(in prose: Prose) -> [TidyRule.Finding] {
        let text = String(decoding: prose.text, as: UTF8.self)
        let range = NSRange(location: 0, length: prose.text.count)
        return expression.matches(in: text, range: range).compactMap { match in
            guard let index = rules.indices.first(where: { match.range(at: $0 + 1).location != NSNotFound }),
                let scope = scope(of: prose.kind(at: match.range.location), path: prose.path)
            else { return nil }
            return TidyRule.Finding(
                rule: rules[index].pattern, scope: scope, path: prose.path, line: prose.line(of: match.range.location),
                excerpt: prose.excerpt(at: match.range.location), advice: rules[index].advice)
        }
    }

    private func scope(of kind: Prose.Kind, path: String) -> TidyRule.Scope? {
        switch kind {
        case .page: .pages
        case .code, .comment: nil
        case .string, .documentation, .name:
            if path.contains("Tests/") { .tests } else { kind == .documentation ? .documentation : .program }
        }
    }
}
