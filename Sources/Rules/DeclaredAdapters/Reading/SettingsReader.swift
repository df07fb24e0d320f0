import AdapterKit
import YAMLReading
import Yams

/// Reads `settings` and `vouched`: the keys of the app and the members of the edge.
struct SettingsReader {
    private static let most = 64

    func read(_ section: Section) -> [DeclaredSetting] {
        guard isSmall(section) else { return [] }
        return section.all.compactMap { key, name, value in
            guard isName(name, key, section) else { return nil }
            let setting = Section(value, at: key, name: section.path(name), section.diagnostics)
                .declare(FileKeys.Setting.all)
            defer { setting.finish() }
            return read(setting, name: name)
        }
    }

    func vouched(_ section: Section) -> [VouchedMember] {
        guard isSmall(section) else { return [] }
        return section.all.compactMap { key, name, value in
            guard isName(name, key, section) else { return nil }
            guard name != "user" else {
                section.diagnostics.error(key, "vouched.user is always there; declare what stands beside it")
                return nil
            }
            let member = Section(value, at: key, name: section.path(name), section.diagnostics)
                .declare(FileKeys.Vouched.all)
            defer { member.finish() }
            let kind = member.read(FileKeys.Vouched.type) ?? .text
            let about = member.read(FileKeys.Vouched.about) ?? ""
            return VouchedMember(
                name: name, kind: kind, strings: strings(member, kind), about: about,
                limit: member.read(FileKeys.Vouched.atMost) ?? 1024,
                isRequired: member.read(FileKeys.Vouched.required) ?? false)
        }
    }

    private func strings(_ member: Section, _ kind: VouchedMember.Kind) -> AllowedStrings {
        let words = member.placed(FileKeys.Vouched.of), form = member.placed(FileKeys.Vouched.form)
        if let words, let form {
            member.diagnostics.error(form.node, "\(member.name) has both of and form; remove one of the two")
            return .words(words.value)
        }
        if let words {
            if kind != .text, kind != .texts {
                member.error(FileKeys.Vouched.of, at: words.node, "is for type text or texts")
            }
            if words.value.isEmpty || words.value.contains("") {
                member.error(FileKeys.Vouched.of, at: words.node, "must be a list of words")
            }
            return .words(words.value)
        }
        guard let form else { return .any }
        if kind != .text {
            member.error(FileKeys.Vouched.form, at: form.node, "is for type text")
        }
        return .form(form.value)
    }

    private func isSmall(_ section: Section) -> Bool {
        guard section.all.count > Self.most else { return true }
        section.diagnostics.error(section.node, "\(section.name) has more than \(Self.most) members")
        return false
    }

    private func isName(_ name: String, _ key: Node, _ section: Section) -> Bool {
        let isName =
            name.utf8.count <= 64 && name.utf8.first.map { $0 >= UInt8(ascii: "a") } == true
            && name.utf8.allSatisfy { ("a"..."z").contains($0) || ("0"..."9").contains($0) || $0 == UInt8(ascii: "_") }
        if !isName {
            section.diagnostics.error(
                key, "a member of \(section.name) is called with small letters, digits and underscores: \"\(name)\"")
        }
        return isName
    }

    private func read(_ section: Section, name: String) -> DeclaredSetting? {
        guard let (word, node) = section.placed(FileKeys.Setting.type) else { return nil }
        let words = section.read(FileKeys.Setting.of)
        guard let kind = kind(word, words, node, section) else { return nil }
        let isRequired = section.read(FileKeys.Setting.required) ?? false
        let about = section.read(FileKeys.Setting.about) ?? ""
        let prefix = section.read(FileKeys.Setting.startsWith) ?? ""
        let form = form(section, kind)
        let standard = section.read(FileKeys.Setting.standard).flatMap { value(of: $0, kind, section) }
        if isRequired, let node = section.read(FileKeys.Setting.standard) {
            section.diagnostics.error(node, "\(section.name) is required and has a default; remove one of the two")
        }
        return DeclaredSetting(
            name: name, kind: kind, isRequired: isRequired, standard: standard, prefix: prefix, form: form,
            about: about)
    }

    private func form(_ section: Section, _ kind: DeclaredSetting.Kind) -> TextForm? {
        guard let (form, node) = section.placed(FileKeys.Setting.form) else { return nil }
        guard kind == .text else {
            section.error(FileKeys.Setting.form, at: node, "is for type text")
            return nil
        }
        if let standard = section.read(FileKeys.Setting.standard), let text = standard.scalar?.string,
            !form.matches(text.utf8)
        {
            section.error(FileKeys.Setting.standard, at: standard, "is not \(form.text), which form requires")
        }
        return form
    }

    private func kind(_ word: String, _ words: [String]?, _ node: Node, _ section: Section) -> DeclaredSetting.Kind? {
        switch word {
        case "text": return .text
        case "boolean": return .boolean
        case "integer": return .integer
        case "texts": return .texts
        case "json": return .json
        case "choice":
            guard let words, !words.isEmpty else { break }
            return .choice(words)
        case "algorithm":
            let algorithms = (words ?? []).compactMap(Algorithm.init(named:))
            guard let words, !words.isEmpty, algorithms.count == words.count else { break }
            return .algorithm(algorithms)
        default:
            let known = FileKeys.Setting.types
            let meant = Spelling.nearest(to: word, among: known).map { "; did you mean \($0)?" } ?? ""
            section.error(FileKeys.Setting.type, at: node, "must be one of \(known.joined(separator: ", "))\(meant)")
            return nil
        }
        let what = word == "choice" ? "words" : "JOSE algorithms such as RS256"
        section.diagnostics.error(node, "\(section.name) needs \"of\", a list of \(what)")
        return nil
    }

    private func value(of node: Node, _ kind: DeclaredSetting.Kind, _ section: Section) -> SettingValue? {
        let value: SettingValue?
        switch kind {
        case .text: value = node.scalar.map { .text($0.string) }
        case .boolean: value = node.scalar.flatMap { Bool($0.string) }.map { .boolean($0) }
        case .integer: value = node.scalar.flatMap { Int64($0.string) }.map { .integer($0) }
        case .texts: value = node.texts.map { .texts($0) }
        case .choice(let words):
            value = node.scalar.flatMap { words.contains($0.string) ? .text($0.string) : nil }
        case .algorithm(let algorithms):
            value = node.scalar.flatMap { scalar in
                Algorithm(named: scalar.string).flatMap { algorithms.contains($0) ? .text($0.rawValue) : nil }
            }
        case .json:
            value = node.scalar.flatMap { scalar in
                (try? JSONDocument(parsing: Array(scalar.string.utf8)).root).map { .json($0.json) }
            }
        }
        if value == nil {
            section.error(FileKeys.Setting.standard, at: node, "is no \(kind.word) of this kind")
        }
        return value
    }
}

extension ClosedRange<String> {
    /// Returns whether the letter `byte` is between the range's two bounds.
    fileprivate func contains(_ byte: UInt8) -> Bool {
        guard let low = lowerBound.utf8.first, let high = upperBound.utf8.first else { return false }
        return (low...high).contains(byte)
    }
}
