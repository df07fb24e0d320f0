package import AdapterKit
import Yams

/// A vendor's file to fill in: every section with an example, and a mark at each value that only the vendor's pages know.
package struct FileSkeleton {
    /// The beginning of each value that is to be filled in.
    package static let mark = "FILL IN"

    let name: String
    let algorithm: Algorithm
    /// The private key of the tests in the file; nil for a shared secret.
    let pem: String?

    /// The file of the vendor `name`, whose tokens `algorithm` signs; nil where that is no vendor's name.
    ///
    /// - Throws: `JOSEError` if no key can be made for the tests in the file.
    package init?(name: String, algorithm: Algorithm = .hs256) throws(JOSEError) {
        guard VendorName.isValid(name) else { return nil }
        self.name = name
        self.algorithm = algorithm
        let key = try SigningKey.generate(algorithm).privateKeyPEM()
        pem = key.map { key in key.withBytes { String(decoding: $0, as: UTF8.self) } }
    }

    /// Returns the values in `root` that begin with the mark.
    static func unfilled(in root: Node) -> [Node] {
        switch root {
        case .scalar(let scalar): scalar.string.hasPrefix(mark) ? [root] : []
        case .mapping(let mapping): mapping.flatMap { unfilled(in: $0.value) }
        case .sequence(let sequence): sequence.flatMap { unfilled(in: $0) }
        case .alias: []
        }
    }

    /// The file's text. Keys that not every vendor needs are in comments.
    package var text: String { text(withExamples: false) }

    /// Returns the file's text, with the keys that not every vendor needs in comments or, with `withExamples`, as keys.
    func text(withExamples: Bool) -> String {
        let template = [head, values, report, codes, token, key, answers, tests].joined(separator: "\n\n") + "\n"
        return template.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            let indent = line.prefix { $0 == " " }
            let rest = line.dropFirst(indent.count)
            guard rest.hasPrefix("% ") else { return String(line) }
            return "\(indent)\(withExamples ? "" : "# ")\(rest.dropFirst(2))"
        }.joined(separator: "\n")
    }

    // MARK: Comments

    /// Returns comments with the words and their meanings, a line each.
    func comments(_ words: [(name: String, meaning: String)], indent: String = "") -> String {
        words.map { "\(indent)#   \($0.name): \(plain($0.meaning))" }.joined(separator: "\n")
    }

    /// Returns `text` without the marks of code in Markdown.
    func plain(_ text: String) -> String { text.filter { $0 != "`" } }

    /// Returns the lines of a verdict on each corruption of a token with the claims `sub`, `iat` and `exp`.
    var verdicts: String {
        CorruptionKind.allCases.flatMap { kind -> [String] in
            let names: [String] =
                switch kind {
                case .noClaim: ["sub", "iat", "exp"].map { kind.name(claim: $0) }
                case .wrongClaim: ["sub", "iat"].map { kind.name(claim: $0) }
                case .noKeyID, .otherKeyID: pem == nil ? [] : [kind.rawValue]
                default: [kind.rawValue]
                }
            let answer = kind == .noType ? "accepted" : "401 Unauthorized"
            return names.map { "    \($0): \(answer)    # \(plain(kind.change))" }
        }.joined(separator: "\n")
    }
}
