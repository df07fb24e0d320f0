import AdapterKit

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

    /// The claim, or all claims that a setting may choose.
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
