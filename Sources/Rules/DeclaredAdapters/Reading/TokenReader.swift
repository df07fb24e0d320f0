import AdapterKit
import YAMLReading
import Yams

/// Reads `token`: algorithm, header, claims and life.
struct TokenReader {
    let settings: [DeclaredSetting]
    let placeholders: Placeholders
    let diagnostics: Diagnostics

    func read(_ section: Section) -> TokenRules? {
        defer { section.finish() }
        let signing = signing(section)
        let header = header(section)
        let lifetime = lifetime(section.section(FileKeys.Token.lifetime))
        guard let node = section.read(FileKeys.Token.claims) else { return nil }
        let claims = claims(of: node, "token.claims", isTop: true)
        check(claims, node)
        guard let signing, let lifetime else { return nil }
        return TokenRules(signing: signing, header: header, claims: claims, lifetime: lifetime)
    }

    /// Requires that every token has an end, and names its user.
    private func check(_ claims: [ClaimRule], _ node: Node) {
        var ends = false
        for claim in claims { ends = ends || claim.isEnd }
        if !ends {
            diagnostics.error(
                node, "token.claims lacks exp: \"{{expires}}\"; a token that never ends cannot be taken back")
        }
        if !claims.contains(where: \.namesUser) {
            diagnostics.error(node, "no claim names the user; write \"{{user}}\" where the vendor looks for the id")
        }
    }

    private func signing(_ section: Section) -> TokenRules.Signing? {
        guard let (text, node) = section.placed(FileKeys.Token.algorithm) else { return nil }
        if let algorithm = Algorithm(named: text) { return .fixed(algorithm) }
        let name = text.hasPrefix("{{settings.") && text.hasSuffix("}}") ? String(text.dropFirst(11).dropLast(2)) : ""
        if let setting = settings.first(where: { $0.name == name }), case .algorithm = setting.kind, setting.isSure {
            return .setting(name)
        }
        let known = Algorithm.allCases.flatMap(\.names).joined(separator: ", ")
        diagnostics.error(
            node,
            "token.algorithm must be one of \(known), or \"{{settings.NAME}}\" of a setting of type algorithm that is required or has a default"
        )
        return nil
    }

    private func lifetime(_ section: Section) -> LifetimeBounds? {
        defer { section.finish() }
        let standard = section.read(FileKeys.Lifetime.standard)
        let least = section.read(FileKeys.Lifetime.from), most = section.read(FileKeys.Lifetime.to)
        guard let standard, let least, let most else { return nil }
        guard least <= standard, standard <= most else {
            diagnostics.error(section.node, "token.lifetime: standard must lie between from and to")
            return nil
        }
        return LifetimeBounds(standard: standard, allowed: least...most)
    }

    private func header(_ section: Section) -> [HeaderRule] {
        section.section(FileKeys.Token.header).all.compactMap { key, name, value in
            guard name != "alg" else {
                diagnostics.error(key, "alg is always the header's first member; leave it out")
                return nil
            }
            if value.mapping != nil { return chosenMember(name, value) }
            return text(of: value, "token.header.\(name)").map { HeaderRule(name: name, value: .text($0)) }
        }
    }

    /// Returns a member that a setting selects; it is left out where the setting's word has none.
    private func chosenMember(_ name: String, _ node: Node) -> HeaderRule? {
        guard node.mapping?.count == 1, node.mapping?.first?.key.scalar?.string == "$one_of",
            let inside = node.mapping?.first?.value,
            let (setting, words, section) = choice(inside, "token.header.\(name)")
        else {
            diagnostics.error(node, "token.header.\(name) must be a string, or { $one_of: … }")
            return nil
        }
        var choices: [String: ValueRule] = [:]
        for (key, word, value) in section.all where word != FileKeys.Function.by.name {
            guard isWord(word, of: words, key, setting) else { continue }
            choices[word] = text(of: value, section.path(word)).map { .text($0) }
        }
        return HeaderRule(name: name, value: .oneOf(setting: setting, choices))
    }

    private func text(of value: Node, _ name: String) -> [TextRule]? {
        guard let text = value.scalar?.string, let parts = placeholders.parts(of: text, at: value) else {
            if value.scalar == nil { diagnostics.error(value, "\(name) must be a string") }
            return nil
        }
        for case .placeholder(let placeholder) in parts {
            switch placeholder {
            case .keyID, .date: continue
            case .setting(let setting)
            where isSure(setting) && settings.contains { $0.name == setting && $0.kind == .text }:
                continue
            default:
                diagnostics.error(
                    value,
                    "\(name) takes {{key_id}}, {{date}} and settings of type text that are required or have a default; a header is the same for all users"
                )
                return nil
            }
        }
        return parts
    }

    // MARK: Claims

    func claims(of node: Node, _ name: String, isTop: Bool = false, isChoice: Bool = false) -> [ClaimRule] {
        let section = Section(node, at: node, name: name, diagnostics)
        guard section.all.count <= 128 else {
            diagnostics.error(node, "\(name) has more than 128 members")
            return []
        }
        let rules: [ClaimRule] = section.all.compactMap { key, name, value in
            if name.hasPrefix("$one_of") { return chosenClaims(value, section.path(name)) }
            if name.hasPrefix("$"), !name.hasPrefix("$$") {
                diagnostics.error(
                    key, "\(name) is a value of its own, and no member beside others; known here: $one_of")
                return nil
            }
            return claim(name.hasPrefix("$$") ? String(name.dropFirst()) : name, key, value, section, isTop)
        }
        if !isChoice { ClaimNames(rules).check(name, diagnostics) }
        return rules
    }

    private func claim(_ name: String, _ key: Node, _ node: Node, _ section: Section, _ isTop: Bool) -> ClaimRule? {
        guard let parts = placeholders.parts(of: name, at: key) else { return nil }
        for case .placeholder(let placeholder) in parts {
            switch placeholder {
            case .user, .keyID, .date: continue
            case .setting(let name) where settings.first(where: { $0.name == name })?.isSure == true: continue
            default:
                diagnostics.error(
                    key, "a claim's name takes {{user}}, {{key_id}} and settings that are required or have a default")
                return nil
            }
        }
        guard !name.isEmpty else {
            diagnostics.error(key, "a claim without a name")
            return nil
        }
        guard let value = value(node, section.path(name), mayBeAbsent: true) else { return nil }
        return .claim(name: parts, value: value, place: diagnostics.place(of: key))
    }

    private func chosenClaims(_ node: Node, _ name: String) -> ClaimRule? {
        guard let (setting, words, section) = choice(node, name) else { return nil }
        var choices: [String: [ClaimRule]] = [:]
        for (key, word, value) in section.all where word != FileKeys.Function.by.name {
            guard isWord(word, of: words, key, setting) else { continue }
            choices[word] = value.null != nil ? [] : claims(of: value, section.path(word), isChoice: true)
        }
        for word in words where choices[word] == nil {
            diagnostics.error(node, "\(name) has no result for \(setting): \(word); write {} for nothing")
        }
        return .oneOf(setting: setting, choices)
    }

    func choice(_ node: Node, _ name: String) -> (setting: String, words: [String], Section)? {
        let section = Section(node, at: node, name: name, diagnostics)
        guard let (text, place) = section.placed(FileKeys.Function.by) else { return nil }
        let setting = text.hasPrefix("settings.") ? String(text.dropFirst("settings.".count)) : text
        guard let declared = settings.first(where: { $0.name == setting }), let words = declared.words, declared.isSure
        else {
            diagnostics.error(
                place,
                "\(section.path(of: FileKeys.Function.by)) must name a setting of type choice, boolean or algorithm that is required or has a default, such as settings.mode"
            )
            return nil
        }
        return (setting, words, section)
    }

    func isWord(_ word: String, of words: [String], _ key: Node, _ setting: String) -> Bool {
        guard !words.contains(word) else { return true }
        diagnostics.error(key, "settings.\(setting) is never \(word); it is \(words.joined(separator: " or "))")
        return false
    }
}

extension ClaimRule {
    /// Whether it is the claim of the token's end.
    var isEnd: Bool {
        guard case .claim(let name, let value, _) = self, name.count == 1, case .constant(let text)? = name.first else {
            return false
        }
        return text == "exp" && value.isEnd
    }

    /// Whether it contains the user.
    var namesUser: Bool {
        switch self {
        case .claim(_, let value, _): value.namesUser
        case .oneOf(_, let choices): !choices.isEmpty && choices.values.allSatisfy { $0.contains(where: \.namesUser) }
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
        case .text(let parts): parts.contains(.placeholder(.user))
        case .object(let claims): claims.contains(where: \.namesUser)
        case .oneOf(_, let choices): !choices.isEmpty && choices.values.allSatisfy(\.namesUser)
        default: false
        }
    }

    /// Whether it contains a value that the edge must vouch for.
    var hasVouched: Bool {
        switch self {
        case .placeholder(.vouched), .granted: true
        case .object(let claims): claims.contains(where: \.hasVouched)
        case .array(let values), .joined(let values, _): values.contains(where: \.hasVouched)
        case .jsonText(let inner), .omitted(let inner): inner.hasVouched
        case .oneOf(_, let choices): choices.values.contains(where: \.hasVouched)
        case .constant, .placeholder, .text, .moment: false
        }
    }

    /// Whether it is the end of the token's life, in seconds.
    var isEnd: Bool {
        switch self {
        case .placeholder(.moment(let moment)), .moment(let moment): moment == Moment(.expiresAt)
        default: false
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
