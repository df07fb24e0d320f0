import AdapterKit
import YAMLReading
import Yams

/// Reads `token`: algorithm, header, claims and life.
struct TokenReader {
    let settings: [DeclaredSetting]
    let placeholders: Placeholders
    let diagnostics: Diagnostics
    /// The member of `vouched` that is there in the element that is read: without it there is no element.
    var givenMember: String?
    var jsonDepth = 0

    func read(_ section: Section) -> TokenRules? {
        defer { section.finish() }
        let signing = signing(section)
        let header = header(section)
        let lifetime = lifetime(section.section(FileKeys.Token.lifetime))
        guard let node = section.read(FileKeys.Token.claims) else { return nil }
        let claims = claims(of: node, "token.claims", isTop: true)
        let namesUser = section.read(FileKeys.Token.namesUser) ?? true
        checkUser(claims, node, section, namesUser)
        guard let signing, let lifetime else { return nil }
        checkEnd(claims, node, lifetime.ageLimit)
        return TokenRules(
            signing: signing, header: header, claims: claims, namesUser: namesUser, lifetime: lifetime.bounds,
            ageLimit: lifetime.ageLimit)
    }

    /// Requires that every token has an end: `exp`, or `iat` where the vendor measures the age.
    private func checkEnd(_ claims: [ClaimRule], _ node: Node, _ ageLimit: Int64?) {
        guard ageLimit != nil else {
            guard !claims.contains(where: { $0.isMoment("exp", .expiresAt) }) else { return }
            diagnostics.error(
                node,
                "token.claims lacks exp: \"{{expires}}\"; a token that never ends cannot be taken back. Does the vendor measure the age from iat? Write lifetime: { age_limit: 15m }"
            )
            return
        }
        for case .claim(let name, _, let place) in claims.flatMap(\.everyClaim) where name == [.constant("exp")] {
            diagnostics.error(at: place, "token.claims has exp, so it ends there; remove exp, or lifetime.age_limit")
        }
        guard !claims.contains(where: { $0.isMoment("iat", .issuedAt) }) else { return }
        diagnostics.error(node, "token.claims lacks iat: \"{{now}}\", from which the vendor measures the age")
    }

    /// Requires that every token names its user, unless the file states that it does not.
    private func checkUser(_ claims: [ClaimRule], _ node: Node, _ section: Section, _ namesUser: Bool) {
        if namesUser, !claims.contains(where: \.namesUser) {
            diagnostics.error(
                node,
                "no claim names the user alone; write \"{{user}}\" where the vendor looks for the id, or names_user: false where a site or an app is the subject"
            )
        }
        if !namesUser, claims.contains(where: \.hasUser) {
            diagnostics.error(
                section.value(of: FileKeys.Token.namesUser), "a claim contains {{user}}; remove token.names_user")
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

    private func lifetime(_ section: Section) -> (bounds: LifetimeBounds, ageLimit: Int64?)? {
        let isAged = section.value(of: FileKeys.Lifetime.ageLimit) != nil
        section.declare(
            isAged ? FileKeys.Lifetime.aged : FileKeys.Lifetime.all + [FileKeys.Lifetime.ageLimit.description])
        defer { section.finish() }
        if isAged {
            // The vendor knows no other end, so all tokens live equally long.
            guard let age = section.read(FileKeys.Lifetime.ageLimit) else { return nil }
            return (LifetimeBounds(standard: age, allowed: age...age), age)
        }
        let standard = section.read(FileKeys.Lifetime.standard)
        let least = section.read(FileKeys.Lifetime.from), most = section.read(FileKeys.Lifetime.to)
        guard let standard, let least, let most else { return nil }
        guard least <= standard, standard <= most else {
            diagnostics.error(section.node, "token.lifetime: standard must lie between from and to")
            return nil
        }
        return (LifetimeBounds(standard: standard, allowed: least...most), nil)
    }

    private func header(_ section: Section) -> [HeaderRule] {
        section.section(FileKeys.Token.header).all.compactMap { key, name, value in
            guard name != "alg" else {
                diagnostics.error(key, "alg is always the header's first member; leave it out")
                return nil
            }
            guard !name.contains("{{") else {
                diagnostics.error(key, "a header member's name is the same for all tokens; write it without {{…}}")
                return nil
            }
            if value.mapping != nil { return chosenMember(name, value) }
            return text(of: value, "token.header.\(name)").map { HeaderRule(name: name, value: .text($0)) }
        }
    }

    /// Returns a member that a setting selects.
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
            choices[word] =
                value.isOmission
                ? ValueRule.absent : text(of: value, section.path(word)).map { ValueRule.text($0) }
        }
        requireResults(section, setting, words, node, orElse: "$omit to leave the member out")
        return HeaderRule(name: name, value: .oneOf(setting: setting, choices))
    }

    private func text(of value: Node, _ name: String) -> [TextRule]? {
        guard !refusesOmission(value, name) else { return nil }
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

    /// Returns whether `node` is `$omit`, after reporting that it is no value.
    func refusesOmission(_ node: Node, _ name: String) -> Bool {
        guard node.isOmission else { return false }
        diagnostics.error(node, "\(name): $omit is a result of $one_of, and no value of its own")
        return true
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
        guard !refusesStructure(around: parts, key) else { return nil }
        guard let value = value(node, section.path(name), mayBeAbsent: true) else { return nil }
        return .claim(name: parts, value: value, place: diagnostics.place(of: key))
    }

    private func chosenClaims(_ node: Node, _ name: String) -> ClaimRule? {
        guard let (setting, words, section) = choice(node, name) else { return nil }
        var choices: [String: [ClaimRule]] = [:]
        for (key, word, value) in section.all where word != FileKeys.Function.by.name {
            guard isWord(word, of: words, key, setting) else { continue }
            let isEmpty = value.null != nil || value.isOmission
            choices[word] = isEmpty ? [] : claims(of: value, section.path(word), isChoice: true)
        }
        requireResults(section, setting, words, node, orElse: "{} for no claims")
        return .oneOf(setting: setting, choices)
    }

    func choice(_ node: Node, _ name: String) -> (setting: String, words: [String], Section)? {
        let section = Section(node, at: node, name: name, diagnostics)
        guard let (text, place) = section.placed(FileKeys.Function.by) else { return nil }
        let setting = text.hasPrefix("settings.") ? String(text.dropFirst("settings.".count)) : text
        guard let declared = settings.first(where: { $0.name == setting }), let words = declared.words, declared.isSure
        else {
            section.error(
                FileKeys.Function.by, at: place,
                "must name a setting of type choice, boolean or algorithm that is required or has a default, such as settings.mode"
            )
            return nil
        }
        return (setting, words, section)
    }

    /// Reports the words of `setting` without a result: a claim that is left out must be written.
    func requireResults(
        _ section: Section, _ setting: String, _ words: [String], _ node: Node, orElse omission: String
    ) {
        for word in words where section.key(word) == nil {
            diagnostics.error(
                node, "\(section.name) has no result for \(setting): \(word); write \(word): \(omission)")
        }
    }

    func isWord(_ word: String, of words: [String], _ key: Node, _ setting: String) -> Bool {
        guard !words.contains(word) else { return true }
        diagnostics.error(key, "settings.\(setting) is never \(word); it is \(words.joined(separator: " or "))")
        return false
    }
}
