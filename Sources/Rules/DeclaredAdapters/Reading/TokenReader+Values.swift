import AdapterKit
import YAMLReading
import Yams

// What a claim's value may be: JSON, placeholders and the named functions.
extension TokenReader {
    func value(_ node: Node, _ name: String, mayBeAbsent: Bool = false) -> ValueRule? {
        if let sequence = node.sequence {
            guard sequence.count <= 256 else {
                diagnostics.error(node, "\(name) has more than 256 elements")
                return nil
            }
            return .array(sequence.compactMap { element($0, name) })
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
        guard !refusesOmission(node, name) else { return nil }
        return text(scalar.string, node, name, mayBeAbsent)
    }

    private func element(_ node: Node, _ name: String) -> ValueRule? {
        guard let inside = lone("$omit_if_absent", node) else { return value(node, name) }
        let members = Set(optionalMembers(in: inside))
        guard givenMember == nil, members.count == 1, let member = members.first else {
            diagnostics.error(
                node,
                "$omit_if_absent around an element of an array leaves it out where the edge does not vouch for the member in it: write one {{vouched.…}} in it that is not required"
            )
            return nil
        }
        var reader = self
        reader.givenMember = member
        return reader.value(inside, name).map { .ifVouched(member, $0) }
    }

    /// Returns the members of `vouched` in `node` that an event may lack.
    private func optionalMembers(in node: Node) -> [String] {
        if let sequence = node.sequence { return sequence.flatMap { optionalMembers(in: $0) } }
        if let mapping = node.mapping { return mapping.flatMap { optionalMembers(in: $0.value) } }
        return loneVouched(node).map { isRequired($0) ? [] : [$0] } ?? []
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
            if case .vouched(let member) = placeholder, !isRequired(member) {
                diagnostics.error(
                    node,
                    "vouched.\(member) may be absent: write { $omit_if_absent: \"{{vouched.\(member)}}\" }, or required: true in vouched.\(member)"
                )
            }
            return .placeholder(placeholder)
        }
        for case .placeholder(let placeholder) in parts {
            switch placeholder {
            case .vouched(let member):
                diagnostics.error(
                    node, "vouched.\(member) stands alone, so that it keeps its type, and never within a string")
            case .setting(let setting) where !isSure(setting):
                diagnostics.error(
                    node, "settings.\(setting) may be absent, and a string cannot have a gap; give it a default")
            default: continue
            }
        }
        guard !parts.isEmpty else { return .constant(Array("\"\"".utf8)) }
        if parts.count == 1, case .constant(let constant)? = parts.first {
            var json = JSONWriter()
            json.string(constant)
            return .constant(json.bytes)
        }
        guard !refusesStructure(around: parts, node) else { return nil }
        return .text(parts)
    }

    /// Returns whether an id in the string of `parts` could become more than one value of it, after reporting that.
    func refusesStructure(around parts: [TextRule], _ node: Node) -> Bool {
        // Behind two slashes the user is one percent-encoded part of a URL, whatever the rest is.
        let texts = ClaimsCompiler([:]).text(parts)
        let constants = texts.compactMap { if case .constant(let text) = $0 { text } else { nil } }.joined()
        guard texts.contains(.user), let mark = constants.utf8.first(where: Self.structure.contains) else {
            return false
        }
        diagnostics.error(
            node,
            "{{user}} is beside \(String(decoding: [mark], as: UTF8.self).debugDescription), so an id with such a character would be more than one value; write the value as a list or an object, and { $json: … } around it where the vendor wants a string"
        )
        return true
    }

    /// The characters by which texts have parts: JSON, lists, scopes, queries.
    private static let structure = Set("\"'`,;|&=(){}[]<>\\ \t\r\n".utf8)

    private func isRequired(_ member: String) -> Bool {
        member == givenMember || placeholders.vouched.contains { $0.name == member && $0.isRequired }
    }

    func isSure(_ setting: String) -> Bool { settings.first { $0.name == setting }?.isSure == true }

    /// Each `$json` around another doubles its escapes.
    private static let deepestJSON = 4
    private static let functions = ["$now", "$expires", "$json", "$join", "$one_of", "$omit_if_absent", "$vouched"]

    private func function(
        _ function: String, _ node: Node, _ place: Node, _ name: String, _ mayBeAbsent: Bool
    ) -> ValueRule? {
        switch function {
        case "$now", "$expires": return moment(node, function == "$now" ? .issuedAt : .expiresAt, name)
        case "$json":
            if let member = loneVouched(node) {
                if isRequired(member) { return .jsonText(.placeholder(.vouched(member))) }
                diagnostics.error(
                    node,
                    "vouched.\(member) may be absent: write { $omit_if_absent: { $json: … } } or { $json: { $vouched: … } }, or required: true in vouched.\(member)"
                )
                return nil
            }
            if case .granted(let member, let otherwise, _)? = lone("$vouched", node).flatMap({ granted($0, name) }) {
                return .granted(member, otherwise: otherwise, isJSONText: true)
            }
            guard jsonDepth < Self.deepestJSON else {
                diagnostics.error(place, "more than \(Self.deepestJSON) $json inside each other")
                return nil
            }
            var reader = self
            reader.jsonDepth += 1
            return reader.value(node, name).map { inner in
                if inner.hasVouched {
                    diagnostics.error(
                        node,
                        "$json contains {{vouched.…}} alone, and no object or list with it; let the edge vouch for the whole value"
                    )
                }
                return .jsonText(inner)
            }
        case "$join": return joined(node, name)
        case "$vouched": return granted(node, name)
        case "$one_of": return chosenValue(node, name, mayBeAbsent, place)
        case "$omit_if_absent":
            guard mayBeAbsent else {
                diagnostics.error(
                    place,
                    "$omit_if_absent leaves out a member, or an element of an array; nothing else can be left out")
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

    /// Returns the value of `function` where that is the only member of `node`; nil otherwise.
    private func lone(_ function: String, _ node: Node) -> Node? {
        guard node.mapping?.count == 1, node.mapping?.first?.key.scalar?.string == function else { return nil }
        return node.mapping?.first?.value
    }

    private func granted(_ node: Node, _ name: String) -> ValueRule? {
        let section = Section(node, at: node, name: name, diagnostics)
            .declare([FileKeys.Function.granted.description, FileKeys.Function.otherwise.description])
        defer { section.finish() }
        guard let (text, place) = section.placed(FileKeys.Function.granted) else { return nil }
        let member = text.hasPrefix("vouched.") ? String(text.dropFirst("vouched.".count)) : text
        guard placeholders.vouched.contains(where: { $0.name == member }) else {
            section.error(
                FileKeys.Function.granted, at: place,
                "must name a member that vouched declares, such as vouched.capability")
            return nil
        }
        guard let other = section.read(FileKeys.Function.otherwise),
            let otherwise = value(other, section.path(of: FileKeys.Function.otherwise))
        else { return nil }
        guard otherwise.isConstant else {
            section.error(FileKeys.Function.otherwise, at: other, "must be a constant or a setting")
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
                let separator = section.read(FileKeys.Function.with) ?? ","
                defer { section.finish() }
                if let of = section.read(FileKeys.Function.of), let member = loneVouched(of) {
                    return .omitted(.joined([.placeholder(.vouched(member))], separator: separator))
                }
                if let of = section.read(FileKeys.Function.of), let inner = omittedSetting(of) {
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
        let section = Section(node, at: node, name: name, diagnostics).declare([
            FileKeys.Function.plus.description, FileKeys.Function.minus.description,
            FileKeys.Function.unit.description,
        ])
        defer { section.finish() }
        let plus = section.read(FileKeys.Function.plus) ?? 0
        let minus = section.read(FileKeys.Function.minus) ?? 0
        let unit = section.read(FileKeys.Function.unit) ?? "seconds"
        guard unit == "seconds" || unit == "milliseconds" else {
            section.error(FileKeys.Function.unit, "must be seconds or milliseconds")
            return nil
        }
        return .moment(Moment(base, offset: plus - minus, unit: unit == "seconds" ? .seconds : .milliseconds))
    }

    private func joined(_ node: Node, _ name: String) -> ValueRule? {
        let section = Section(node, at: node, name: name, diagnostics)
            .declare([FileKeys.Function.of.description, FileKeys.Function.with.description])
        defer { section.finish() }
        let separator = section.read(FileKeys.Function.with) ?? ","
        guard let of = section.read(FileKeys.Function.of) else { return nil }
        if let member = loneVouched(of), isRequired(member) {
            return .joined([.placeholder(.vouched(member))], separator: separator)
        }
        let nodes: [Node] = of.sequence.map { Array($0) } ?? [of]
        let values = nodes.compactMap { value($0, name) }
        for (value, node) in zip(values, nodes) where !value.isJoinable(settings) {
            diagnostics.error(
                node,
                "$join puts texts together: constants, {{key_id}} and settings of type text or texts; an id with the separator in it would be two"
            )
        }
        return .joined(values, separator: separator)
    }

    func chosenValue(_ node: Node, _ name: String, _ mayBeAbsent: Bool, _ place: Node) -> ValueRule? {
        guard let (setting, words, section) = choice(node, name) else { return nil }
        var choices: [String: ValueRule] = [:]
        for (key, word, node) in section.all where word != FileKeys.Function.by.name {
            guard isWord(word, of: words, key, setting) else { continue }
            guard node.isOmission else {
                choices[word] = value(node, section.path(word))
                continue
            }
            choices[word] = .absent
            if !mayBeAbsent {
                diagnostics.error(
                    node, "\(section.path(word)): only a member can be left out; write a value in place of $omit")
            }
        }
        requireResults(
            section, setting, words, place, orElse: mayBeAbsent ? "$omit to leave the claim out" : "its value")
        return .oneOf(setting: setting, choices)
    }
}

extension Node {
    /// Whether it is `$omit`, the result of `$one_of` for a word without a claim.
    var isOmission: Bool { scalar?.string == "$omit" }
}
