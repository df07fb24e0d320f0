import AdapterKit
import YAMLReading

// The properties of claims that a file's reader checks.
extension ClaimRule {
    /// Returns whether it is the claim `claim` with that moment, in seconds.
    func isMoment(_ claim: String, _ base: Moment.Base) -> Bool {
        guard case .claim(let name, let value, _) = self, name == [.constant(claim)] else { return false }
        return switch value {
        case .placeholder(.moment(let moment)), .moment(let moment): moment == Moment(base)
        default: false
        }
    }

    /// Whether the user can be read from it: it holds the user's id once, whatever the settings are.
    var namesUser: Bool {
        switch self {
        case .claim(_, let value, _): value.namesUser
        case .oneOf(_, let choices): !choices.isEmpty && choices.values.allSatisfy { $0.contains(where: \.namesUser) }
        }
    }

    /// Whether it, or its name, contains the user for any setting.
    var hasUser: Bool {
        switch self {
        case .claim(let name, let value, _): name.contains(.placeholder(.user)) || value.hasUser
        case .oneOf(_, let choices): choices.values.contains { $0.contains(where: \.hasUser) }
        }
    }

    var everyClaim: [ClaimRule] {
        switch self {
        case .claim: [self]
        case .oneOf(_, let choices): choices.values.flatMap { $0.flatMap(\.everyClaim) }
        }
    }
}

extension ClaimRule {
    fileprivate var hasVouched: Bool {
        switch self {
        case .claim(_, let value, _): value.hasVouched
        case .oneOf(_, let choices): choices.values.contains { $0.contains(where: \.hasVouched) }
        }
    }
}

extension ValueRule {
    var namesUser: Bool {
        switch self {
        case .placeholder(.user): true
        case .text(let parts):
            parts.count { $0 == .placeholder(.user) } == 1
                && parts.allSatisfy { $0 == .placeholder(.user) || $0.isSame }
        case .object(let claims): claims.contains(where: \.namesUser)
        case .array(let values): values.prefix { !$0.mayBeLeftOut }.contains(where: \.namesUser)
        case .oneOf(_, let choices): !choices.isEmpty && choices.values.allSatisfy(\.namesUser)
        default: false
        }
    }

    fileprivate var hasUser: Bool {
        switch self {
        case .placeholder(let placeholder): placeholder == .user
        case .text(let parts): parts.contains(.placeholder(.user))
        case .object(let claims): claims.contains(where: \.hasUser)
        case .array(let values), .joined(let values, _): values.contains(where: \.hasUser)
        case .jsonText(let inner), .omitted(let inner), .ifVouched(_, let inner): inner.hasUser
        case .oneOf(_, let choices): choices.values.contains(where: \.hasUser)
        case .constant, .moment, .granted, .absent: false
        }
    }

    /// Whether it is an element of an array that a token may lack.
    private var mayBeLeftOut: Bool { if case .ifVouched = self { true } else { false } }

    /// Whether it contains a value that the edge must vouch for.
    var hasVouched: Bool {
        switch self {
        case .placeholder(.vouched), .granted, .ifVouched: true
        case .object(let claims): claims.contains(where: \.hasVouched)
        case .array(let values), .joined(let values, _): values.contains(where: \.hasVouched)
        case .jsonText(let inner), .omitted(let inner): inner.hasVouched
        case .oneOf(_, let choices): choices.values.contains(where: \.hasVouched)
        case .constant, .placeholder, .text, .moment, .absent: false
        }
    }

    /// Whether it is the same for every token of an app.
    var isConstant: Bool {
        switch self {
        case .constant, .placeholder(.setting): true
        case .object(let claims):
            claims.allSatisfy {
                if case .claim(let name, let value, _) = $0 {
                    value.isConstant && name.allSatisfy { if case .constant = $0 { true } else { false } }
                } else {
                    false
                }
            }
        case .array(let values): values.allSatisfy(\.isConstant)
        default: false
        }
    }

    func isJoinable(_ settings: [DeclaredSetting]) -> Bool {
        switch self {
        case .constant(let json): json.first == UInt8(ascii: "\"")
        case .placeholder(.keyID): true
        case .text(let parts): !parts.contains(.placeholder(.user))
        case .placeholder(.setting(let name)):
            [.text, .texts].contains(settings.first { $0.name == name }?.kind)
        default: false
        }
    }
}

extension TextRule {
    /// Whether it is the same for every token of an app.
    fileprivate var isSame: Bool {
        switch self {
        case .constant, .placeholder(.setting): true
        case .placeholder: false
        }
    }
}

/// The names of one object of claims, looked at for two that may be the same. A name with the user in it must begin
/// with a constant part: else a user called `exp` writes a second `exp`.
struct ClaimNames {
    private struct Name {
        let parts: [TextRule]
        let place: FileLocation
        let choices: [(number: Int, word: String)]

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
