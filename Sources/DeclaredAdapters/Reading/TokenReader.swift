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
        let lifetime = lifetime(section.section("lifetime"), section)
        guard let node = section.value("claims") else {
            diagnostics.error(section.node, "token.claims is missing: the payload, as it stands in a token")
            return nil
        }
        let claims = claims(of: node, "token.claims", isTop: true)
        check(claims, node)
        guard let signing, let lifetime else { return nil }
        return TokenRules(signing: signing, header: header, claims: claims, lifetime: lifetime)
    }

    /// Every token ends, and names its user.
    private func check(_ claims: [ClaimRule], _ node: Node) {
        let ends = claims.contains {
            if case .claim([.constant("exp")], let value, _) = $0 { value.isEnd } else { false }
        }
        if !ends {
            diagnostics.error(
                node, "token.claims lacks exp: \"{{expires}}\"; a token that never ends cannot be taken back")
        }
        if !claims.contains(where: \.namesUser) {
            diagnostics.error(node, "no claim names the user; write \"{{user}}\" where the vendor looks for the id")
        }
    }

    private func signing(_ section: Section) -> TokenRules.Signing? {
        guard let (text, node) = section.requiredText("algorithm") else { return nil }
        if let algorithm = Algorithm(rawValue: text) { return .fixed(algorithm) }
        let name = text.hasPrefix("{{settings.") && text.hasSuffix("}}") ? String(text.dropFirst(11).dropLast(2)) : ""
        if let setting = settings.first(where: { $0.name == name }), case .algorithm = setting.kind, setting.isSure {
            return .setting(name)
        }
        let known = Algorithm.allCases.map(\.rawValue).joined(separator: ", ")
        diagnostics.error(
            node,
            "token.algorithm must be one of \(known), or \"{{settings.NAME}}\" of a setting of type algorithm that is required or has a default"
        )
        return nil
    }

    private func lifetime(_ section: Section, _ token: Section) -> LifetimeBounds? {
        defer { section.finish() }
        let range = Duration.seconds(1)...Duration.seconds(31_536_000)
        guard let standard = section.duration("standard", in: range)?.components.seconds,
            let least = section.duration("from", in: range)?.components.seconds,
            let most = section.duration("to", in: range)?.components.seconds
        else {
            diagnostics.error(
                section.node ?? token.node, "token.lifetime needs standard, from and to, each a duration such as 1h")
            return nil
        }
        guard least <= standard, standard <= most else {
            diagnostics.error(section.node, "token.lifetime: standard must lie between from and to")
            return nil
        }
        return LifetimeBounds(standard: standard, allowed: least...most)
    }

    private func header(_ section: Section) -> [HeaderRule] {
        section.section("header").all.compactMap { key, name, value in
            guard name != "alg" else {
                diagnostics.error(key, "alg is always the header's first member; leave it out")
                return nil
            }
            if value.mapping != nil { return chosenMember(name, value) }
            return text(of: value, "token.header.\(name)").map { HeaderRule(name: name, value: .text($0)) }
        }
    }

    /// A member that a setting chooses; left out where the setting's word has none.
    private func chosenMember(_ name: String, _ node: Node) -> HeaderRule? {
        guard node.mapping?.count == 1, node.mapping?.first?.key.scalar?.string == "$one_of",
            let inside = node.mapping?.first?.value,
            let (setting, words, section) = choice(inside, "token.header.\(name)")
        else {
            diagnostics.error(node, "token.header.\(name) must be a text, or { $one_of: … }")
            return nil
        }
        var choices: [String: ValueRule] = [:]
        for (key, word, value) in section.all where word != "by" {
            guard isWord(word, of: words, key, setting) else { continue }
            choices[word] = text(of: value, section.path(word)).map { .text($0) }
        }
        return HeaderRule(name: name, value: .oneOf(setting: setting, choices))
    }

    private func text(of value: Node, _ name: String) -> [TextRule]? {
        guard let text = value.scalar?.string, let parts = placeholders.parts(of: text, at: value) else {
            if value.scalar == nil { diagnostics.error(value, "\(name) must be a text") }
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

    private func claims(of node: Node, _ name: String, isTop: Bool = false) -> [ClaimRule] {
        let section = Section(node, at: node, name: name, diagnostics)
        guard section.all.count <= 128 else {
            diagnostics.error(node, "\(name) has more than 128 members")
            return []
        }
        return section.all.compactMap { key, name, value in
            if name.hasPrefix("$one_of") { return chosenClaims(value, section.path(name)) }
            if name.hasPrefix("$"), !name.hasPrefix("$$") {
                diagnostics.error(
                    key, "\(name) is a value of its own, and no member beside others; known here: $one_of")
                return nil
            }
            return claim(name.hasPrefix("$$") ? String(name.dropFirst()) : name, key, value, section, isTop)
        }
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
        for (key, word, value) in section.all where word != "by" {
            guard isWord(word, of: words, key, setting) else { continue }
            choices[word] = value.null != nil ? [] : claims(of: value, section.path(word))
        }
        for word in words where choices[word] == nil {
            diagnostics.error(node, "\(name) does not say what becomes of \(setting): \(word); write {} for nothing")
        }
        return .oneOf(setting: setting, choices)
    }

    private func choice(_ node: Node, _ name: String) -> (setting: String, words: [String], Section)? {
        let section = Section(node, at: node, name: name, diagnostics)
        guard let (text, place) = section.requiredText("by") else { return nil }
        let setting = text.hasPrefix("settings.") ? String(text.dropFirst("settings.".count)) : text
        guard let declared = settings.first(where: { $0.name == setting }), let words = declared.words, declared.isSure
        else {
            diagnostics.error(
                place,
                "\(section.path("by")) must name a setting of type choice, boolean or algorithm that is required or has a default, such as settings.mode"
            )
            return nil
        }
        return (setting, words, section)
    }

    private func isWord(_ word: String, of words: [String], _ key: Node, _ setting: String) -> Bool {
        guard !words.contains(word) else { return true }
        diagnostics.error(key, "settings.\(setting) is never \(word); it is \(words.joined(separator: " or "))")
        return false
    }

    // MARK: Values

    private func value(_ node: Node, _ name: String, mayBeAbsent: Bool = false) -> ValueRule? {
        if let sequence = node.sequence {
            guard sequence.count <= 256 else {
                diagnostics.error(node, "\(name) has more than 256 elements")
                return nil
            }
            return .array(sequence.compactMap { value($0, name) })
        }
        if let mapping = node.mapping {
            if mapping.count == 1, let key = mapping.first?.key.scalar?.string, let inside = mapping.first?.value,
                key.hasPrefix("$"), !key.hasPrefix("$$")
            {
                return function(key, inside, node, name, mayBeAbsent)
            }
            return .object(claims(of: node, name))
        }
        guard let scalar = node.scalar else {
            diagnostics.error(node, "\(name) is nothing that a token can hold")
            return nil
        }
        if let word = scalar.jsonWord { return .constant(Array(word.utf8)) }
        return text(scalar.string, node, name, mayBeAbsent)
    }

    private func text(_ text: String, _ node: Node, _ name: String, _ mayBeAbsent: Bool) -> ValueRule? {
        guard let parts = placeholders.parts(of: text, at: node) else { return nil }
        if parts.count == 1, case .placeholder(let placeholder)? = parts.first {
            if case .setting(let setting) = placeholder, !isSure(setting) {
                diagnostics.error(
                    node,
                    "settings.\(setting) may be absent: write { $omit_if_absent: \"{{settings.\(setting)}}\" }, or give the setting a default"
                )
            }
            if case .vouched(let member) = placeholder {
                diagnostics.error(
                    node,
                    "vouched.\(member) may be absent: write { $omit_if_absent: \"{{vouched.\(member)}}\" }"
                )
            }
            return .placeholder(placeholder)
        }
        for case .placeholder(let placeholder) in parts {
            switch placeholder {
            case .vouched(let member):
                diagnostics.error(
                    node, "vouched.\(member) stands alone, so that it keeps its type, and never within a text")
            case .setting(let setting) where !isSure(setting):
                diagnostics.error(
                    node, "settings.\(setting) may be absent, and a text with a hole is none; give it a default")
            default: continue
            }
        }
        guard !parts.isEmpty else { return .constant(Array("\"\"".utf8)) }
        if parts.count == 1, case .constant(let constant)? = parts.first {
            var json = JSONWriter()
            json.string(constant)
            return .constant(json.bytes)
        }
        return .text(parts)
    }

    private func isSure(_ setting: String) -> Bool { settings.first { $0.name == setting }?.isSure == true }

    private static let functions = ["$now", "$expires", "$json", "$join", "$one_of", "$omit_if_absent", "$vouched"]

    private func function(
        _ function: String, _ node: Node, _ place: Node, _ name: String, _ mayBeAbsent: Bool
    ) -> ValueRule? {
        switch function {
        case "$now", "$expires": return moment(node, function == "$now" ? .issuedAt : .expiresAt, name)
        case "$json":
            if let member = loneVouched(node) {
                diagnostics.error(
                    node,
                    "vouched.\(member) may be absent: write { $omit_if_absent: { $json: … } } or { $json: { $vouched: … } }"
                )
                return nil
            }
            if case .granted(let member, let otherwise, _)? = lone("$vouched", node).flatMap({ granted($0, name) }) {
                return .granted(member, otherwise: otherwise, isJSONText: true)
            }
            return value(node, name).map { .jsonText($0) }
        case "$join": return joined(node, name)
        case "$vouched": return granted(node, name)
        case "$one_of": return chosenValue(node, name, mayBeAbsent, place)
        case "$omit_if_absent":
            guard mayBeAbsent else {
                diagnostics.error(
                    place, "$omit_if_absent leaves out a member; an element of an array cannot be left out")
                return nil
            }
            return omitted(node, name)
        default:
            let meant = Spelling.nearest(to: function, among: Self.functions).map { "did you mean \($0)?" }
            diagnostics.error(
                place,
                "no function is called \(function); \(meant ?? "known: \(Self.functions.joined(separator: ", "))"); a member of that name is written with $$"
            )
            return nil
        }
    }

    /// What stands under the one member `function` of `node`.
    private func lone(_ function: String, _ node: Node) -> Node? {
        guard node.mapping?.count == 1, node.mapping?.first?.key.scalar?.string == function else { return nil }
        return node.mapping?.first?.value
    }

    /// `{ is: capability, otherwise: … }`.
    private func granted(_ node: Node, _ name: String) -> ValueRule? {
        let section = Section(node, at: node, name: name, diagnostics)
        defer { section.finish() }
        guard let (text, place) = section.requiredText("is") else { return nil }
        let member = text.hasPrefix("vouched.") ? String(text.dropFirst("vouched.".count)) : text
        guard placeholders.vouched.contains(where: { $0.name == member }) else {
            diagnostics.error(
                place, "\(section.path("is")) must name a member that vouched declares, such as vouched.capability")
            return nil
        }
        guard let other = section.value("otherwise"), let otherwise = value(other, section.path("otherwise")) else {
            diagnostics.error(
                node, "$vouched needs \"otherwise\", what stands there where nobody vouches for \(member)")
            return nil
        }
        guard otherwise.isConstant else {
            diagnostics.error(other, "\(section.path("otherwise")) must be a constant or a setting")
            return nil
        }
        return .granted(member, otherwise: otherwise, isJSONText: false)
    }

    private func loneVouched(_ node: Node) -> String? {
        guard let text = node.scalar?.string, text.hasPrefix("{{vouched."), text.hasSuffix("}}") else { return nil }
        let name = String(text.dropFirst(10).dropLast(2))
        return placeholders.vouched.contains { $0.name == name } ? name : nil
    }

    private func omitted(_ node: Node, _ name: String) -> ValueRule? {
        if let member = loneVouched(node) { return .omitted(.placeholder(.vouched(member))) }
        if let text = node.scalar?.string, text.hasPrefix("{{settings."), text.hasSuffix("}}") {
            guard let parts = placeholders.parts(of: text, at: node), parts.count == 1,
                case .placeholder(let placeholder)? = parts.first
            else { return nil }
            return .omitted(.placeholder(placeholder))
        }
        if let mapping = node.mapping, mapping.count == 1, let inside = mapping.first?.value {
            switch mapping.first?.key.scalar?.string {
            case "$json"?:
                if let member = loneVouched(inside) { return .omitted(.jsonText(.placeholder(.vouched(member)))) }
                if let inner = omittedSetting(inside) { return .omitted(.jsonText(inner)) }
            case "$join"?:
                let section = Section(inside, at: inside, name: "\(name).$join", diagnostics)
                let separator = section.text("with")?.text ?? ","
                defer { section.finish() }
                if let of = section.value("of"), let member = loneVouched(of) {
                    return .omitted(.joined([.placeholder(.vouched(member))], separator: separator))
                }
                if let of = section.value("of"), let inner = omittedSetting(of) {
                    return .omitted(.joined([inner], separator: separator))
                }
            default: break
            }
        }
        diagnostics.error(
            node,
            "$omit_if_absent takes \"{{settings.…}}\" or \"{{vouched.…}}\", alone or in $json or $join; all else is always there"
        )
        return nil
    }

    private func omittedSetting(_ node: Node) -> ValueRule? {
        guard let text = node.scalar?.string, text.hasPrefix("{{settings."), text.hasSuffix("}}"),
            let parts = placeholders.parts(of: text, at: node), parts.count == 1,
            case .placeholder(let placeholder)? = parts.first
        else { return nil }
        return .placeholder(placeholder)
    }

    private func moment(_ node: Node, _ base: Moment.Base, _ name: String) -> ValueRule? {
        let section = Section(node, at: node, name: name, diagnostics)
        defer { section.finish() }
        let range = Duration.seconds(1)...Duration.seconds(315_360_000)
        let plus = section.duration("plus", in: range)?.components.seconds ?? 0
        let minus = section.duration("minus", in: range)?.components.seconds ?? 0
        let unit = section.text("unit")?.text ?? "seconds"
        guard unit == "seconds" || unit == "milliseconds" else {
            diagnostics.error(section.value("unit"), "\(section.path("unit")) must be seconds or milliseconds")
            return nil
        }
        return .moment(Moment(base, offset: plus - minus, unit: unit == "seconds" ? .seconds : .milliseconds))
    }

    private func joined(_ node: Node, _ name: String) -> ValueRule? {
        let section = Section(node, at: node, name: name, diagnostics)
        defer { section.finish() }
        let separator = section.text("with")?.text ?? ","
        guard let of = section.value("of") else {
            diagnostics.error(node, "$join needs \"of\", a list of texts, and \"with\", what stands between them")
            return nil
        }
        let nodes: [Node] = of.sequence.map { Array($0) } ?? [of]
        let values = nodes.compactMap { value($0, name) }
        for (value, node) in zip(values, nodes) where !value.isJoinable(settings) {
            diagnostics.error(node, "$join puts texts together: constants, {{user}} and settings of type text or texts")
        }
        return .joined(values, separator: separator)
    }

    private func chosenValue(_ node: Node, _ name: String, _ mayBeAbsent: Bool, _ place: Node) -> ValueRule? {
        guard let (setting, words, section) = choice(node, name) else { return nil }
        var choices: [String: ValueRule] = [:]
        for (key, word, node) in section.all where word != "by" {
            guard isWord(word, of: words, key, setting) else { continue }
            choices[word] = value(node, section.path(word))
        }
        if !mayBeAbsent, let word = words.first(where: { choices[$0] == nil }) {
            diagnostics.error(place, "\(name) does not say what becomes of \(setting): \(word)")
        }
        return .oneOf(setting: setting, choices)
    }
}

extension ClaimRule {
    /// Whether the user stands in it.
    var namesUser: Bool {
        switch self {
        case .claim(_, let value, _): value.namesUser
        case .oneOf(_, let choices): !choices.isEmpty && choices.values.allSatisfy { $0.contains(where: \.namesUser) }
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

    /// Whether it is the end of the token's life, in seconds.
    var isEnd: Bool {
        switch self {
        case .placeholder(.moment(let moment)), .moment(let moment): moment == Moment(.expiresAt)
        default: false
        }
    }

    /// Whether it is the same for every token of an app.
    fileprivate var isConstant: Bool {
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

    fileprivate func isJoinable(_ settings: [DeclaredSetting]) -> Bool {
        switch self {
        case .constant(let json): json.first == UInt8(ascii: "\"")
        case .text, .placeholder(.user), .placeholder(.keyID): true
        case .placeholder(.setting(let name)):
            [.text, .texts].contains(settings.first { $0.name == name }?.kind)
        default: false
        }
    }
}
