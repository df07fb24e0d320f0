import AdapterKit
import YAMLReading

/// The names of one object of claims, looked at for two that may be the same. A name with the user in it must begin
/// with a constant part: else a user called `exp` writes a second `exp`.
struct ClaimNames {
    /// A name, and the words of `$one_of` under which it is there.
    private struct Name {
        let parts: [TextRule]
        let place: FileLocation
        let choices: [(number: Int, word: String)]

        /// The text as a file writes it.
        var text: String {
            parts.map { part in
                switch part {
                case .constant(let text): text
                case .placeholder: "{{…}}"
                }
            }.joined()
        }

        /// Whether the name differs from token to token. Settings' values are checked when an app is configured.
        var isComputed: Bool {
            parts.contains {
                switch $0 {
                case .constant, .placeholder(.setting): false
                case .placeholder: true
                }
            }
        }

        /// The text that it begins with, whatever the rest is.
        var prefix: String { if case .constant(let text)? = parts.first { text } else { "" } }

        /// Returns whether one token can have both claims.
        func isBeside(_ other: Name) -> Bool {
            !choices.contains { choice in
                other.choices.contains { $0.number == choice.number && $0.word != choice.word }
            }
        }

        /// Whether it is the same for every app.
        var isConstant: Bool { if parts.count == 1, case .constant? = parts.first { true } else { false } }

        /// Returns whether this computed name can become `other`.
        func mayEqual(_ other: Name) -> Bool {
            let (own, others) = (Array(prefix.utf8), Array(other.prefix.utf8))
            return others.starts(with: own) || !other.isConstant && own.starts(with: others)
        }
    }

    private var names: [Name] = []
    private var choices = 0

    init(_ rules: [ClaimRule]) { add(rules, []) }

    private mutating func add(_ rules: [ClaimRule], _ path: [(number: Int, word: String)]) {
        for rule in rules {
            switch rule {
            case .claim(let parts, _, let place): names.append(Name(parts: parts, place: place, choices: path))
            case .oneOf(_, let choices):
                self.choices += 1
                let number = self.choices
                for (word, rules) in choices.sorted(by: { $0.key < $1.key }) { add(rules, path + [(number, word)]) }
            }
        }
    }

    /// Reports to `diagnostics` each computed name that may be the name of another claim, and each constant one that is.
    func check(_ object: String, _ diagnostics: Diagnostics) {
        for (index, name) in names.enumerated() where name.isConstant {
            guard names[..<index].contains(where: { $0.parts == name.parts && $0.isBeside(name) }) else { continue }
            diagnostics.error(
                at: name.place, "\(object): the name \"\(name.text)\" is there already; a token has each once")
        }
        for (index, name) in names.enumerated() where name.isComputed {
            let other = names.indices.first {
                $0 != index && name.isBeside(names[$0]) && name.mayEqual(names[$0])
            }
            guard let other else { continue }
            diagnostics.error(
                at: name.place,
                "\(object): the name \"\(name.text)\" can come out as \"\(names[other].text)\" beside it; begin it with characters that no name beside it begins with"
            )
        }
    }
}
