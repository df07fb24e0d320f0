import AdapterKit
import YAMLReading
import Yams

/// Reads `report`: the shapes of SDKs' reports.
struct ReportReader {
    let settings: [DeclaredSetting]

    func read(_ section: Section) -> ReportRules {
        let wrapping = wrapping(section)
        let base = shape(section, name: "any", before: nil)
        let shapes = section.value("shapes").map { self.shapes(of: $0, section, base) } ?? []
        let anonymous = section.requiredTextIfPresent("anonymous")?.text ?? "anonymous user"
        let strangers = strangers(section)
        let rules = ReportRules(
            wrapping: wrapping, shapes: shapes + [base], members: Set(section.texts("members") ?? []),
            strangers: strangers ?? standardStrangers(base), belongings: belongings(section),
            identifiers: identifiers(section),
            anonymous: anonymous)
        check(rules, section)
        section.finish()
        return rules
    }

    /// Refuses rules that would find the user in a text for people, or use a token as the user.
    private func check(_ rules: ReportRules, _ section: Section) {
        for shape in rules.shapes {
            if shape.user.isEmpty {
                section.diagnostics.error(
                    section.node,
                    "\(section.name) does not name the user's member; add user: [member, …], as the SDK or app sends it"
                )
                return
            }
            for path in shape.user {
                let others: [(String, [ReportPath])] = [
                    ("message", shape.message), ("token", shape.token), ("token_hash", shape.tokenHash),
                    ("code", shape.code), ("challenge", shape.challenge),
                ]
                for (name, paths) in others where paths.contains(path) {
                    section.diagnostics.error(
                        section.value("user") ?? section.node,
                        "the user cannot stand where \(name) does (\(path.text)): a user is a whole member, never a part of a string"
                    )
                }
            }
        }
    }

    // MARK: Shapes

    private func shapes(of node: Node, _ section: Section, _ base: ReportShape) -> [ReportShape] {
        guard let nodes = node.sequence, nodes.count <= 32 else {
            section.diagnostics.error(node, "\(section.path("shapes")) must be a list of up to 32 shapes")
            return []
        }
        return nodes.map { node in
            let shape = Section(node, at: node, name: section.path("shapes"), section.diagnostics)
            defer { shape.finish() }
            let name = shape.requiredText("sdk")?.text ?? ""
            let read = self.shape(shape, name: name, before: base)
            if read.conditions.isEmpty {
                section.diagnostics.error(node, "a shape needs \"when\", which no other shape matches")
            }
            return read
        }
    }

    /// Reads a shape; members that it does not name come from `base`.
    private func shape(_ section: Section, name: String, before base: ReportShape?) -> ReportShape {
        let conditions = base == nil ? [] : conditions(section, "when")
        let time = self.time(section, "time"), deadline = self.time(section, "deadline")
        let usefulFor = section.duration("useful_for", in: .seconds(1)...(.seconds(86_400)))?.components.seconds
        return ReportShape(
            name: name, conditions: conditions,
            user: paths(section, "user") ?? base?.user ?? [],
            nobody: section.texts("nobody").map { Set($0) } ?? base?.nobody ?? [],
            code: paths(section, "code") ?? base?.code ?? [],
            codeType: section.choice("code_type", CodeType.self)?.choice ?? base?.codeType ?? .any,
            message: paths(section, "message") ?? base?.message ?? [],
            token: paths(section, "token") ?? base?.token ?? [],
            noToken: section.texts("no_token").map { Set($0) } ?? base?.noToken ?? [],
            tokenHash: paths(section, "token_hash") ?? base?.tokenHash ?? [],
            passed: paths(section, "passed") ?? base?.passed ?? [],
            challenge: paths(section, "challenge") ?? base?.challenge ?? [],
            time: time ?? base?.time, deadline: deadline ?? base?.deadline, usefulFor: usefulFor ?? base?.usefulFor)
    }

    private func time(_ section: Section, _ name: String) -> ReportTime? {
        guard section.value(name) != nil else { return nil }
        let time = section.section(name)
        defer { time.finish() }
        guard let paths = paths(time, "at"), let unit = time.choice("unit", ReportTime.Unit.self) else {
            section.diagnostics.error(
                time.node, "\(time.name) needs \"at\", the member, and \"unit\": seconds, milliseconds or rfc3339")
            return nil
        }
        return ReportTime(paths: paths, unit: unit.choice)
    }

    // MARK: Parts

    private func wrapping(_ section: Section) -> Wrapping? {
        guard section.value("wrapped") != nil else { return nil }
        let wrapped = section.section("wrapped")
        defer { wrapped.finish() }
        return Wrapping(
            names: wrapped.texts("in") ?? [], depth: wrapped.integer("depth", in: 1...4) ?? 1,
            isText: wrapped.bool("text") ?? false)
    }

    private func belongings(_ section: Section) -> [Belonging] {
        guard let node = section.value("belongs") else { return [] }
        let nodes: [Node] = node.sequence.map { Array($0) } ?? [node]
        return nodes.compactMap { node in
            let belonging = Section(node, at: node, name: section.path("belongs"), section.diagnostics)
            defer { belonging.finish() }
            guard let paths = paths(belonging, "at"), let (text, place) = belonging.requiredText("is") else {
                return nil
            }
            let name = text.hasPrefix("settings.") ? String(text.dropFirst("settings.".count)) : text
            guard settings.contains(where: { $0.name == name }) else {
                section.diagnostics.error(place, "\(belonging.path("is")) must name a setting, such as settings.app_id")
                return nil
            }
            let otherwise = belonging.requiredText("otherwise")?.text ?? ""
            return Belonging(paths: paths, setting: name, otherwise: otherwise)
        }
    }

    /// Reads the rule for a user's id: `user_limit`, `user_characters`, `user_never`.
    private func identifiers(_ section: Section) -> IdentifierRule {
        var characters: IdentifierCharacters?
        if let (text, node) = section.text("user_characters") {
            characters = IdentifierCharacters(text)
            if characters == nil {
                section.diagnostics.error(
                    node,
                    "\(section.path("user_characters")) is a class of visible ASCII characters, such as \"[A-Za-z0-9_-]\", or \"[^*]\" for all but those"
                )
            }
        }
        let never = section.texts("user_never") ?? []
        if never.count > 64 || never.contains(where: { $0.isEmpty || $0.utf8.count > 1024 }) {
            section.diagnostics.error(
                section.value("user_never"),
                "\(section.path("user_never")) is a list of up to 64 ids that no user has, such as [\"*\"]")
        }
        return IdentifierRule(limit(section), characters: characters, never: never)
    }

    private func limit(_ section: Section) -> IdentifierLimit {
        guard let (text, node) = section.text("user_limit") else { return .standard }
        let parts = text.split(separator: " ")
        if parts.count == 2, let count = Int(parts[0]), 1...1024 ~= count {
            if parts[1] == "bytes" { return .bytes(count) }
            if parts[1] == "characters" { return .characters(count) }
        }
        section.diagnostics.error(
            node, "\(section.path("user_limit")) is written as 255 characters or 512 bytes, of at most 1024")
        return .standard
    }

    private func strangers(_ section: Section) -> [Set<StrangerSign>]? {
        guard let node = section.value("another_vendors") else { return nil }
        guard let lists = node.sequence, lists.count <= 8 else {
            section.diagnostics.error(node, "\(section.path("another_vendors")) must be a list of lists of signs")
            return nil
        }
        let known = StrangerSign.allCases.map(\.rawValue)
        return lists.map { list in
            let words = (try? section.plainTexts(list)) ?? []
            let signs = words.compactMap(StrangerSign.init(rawValue:))
            if signs.isEmpty || signs.count != words.count {
                section.diagnostics.error(
                    list, "\(section.path("another_vendors")) lists signs of \(known.joined(separator: ", "))")
            }
            return Set(signs)
        }.filter { !$0.isEmpty }
    }

    /// Returns the default signs of another vendor's report: it has members that the vendor never sends, and none of
    /// its codes.
    private func standardStrangers(_ base: ReportShape) -> [Set<StrangerSign>] {
        base.code.isEmpty ? [[.noUser, .otherMembers]] : [[.noKnownCode, .otherMembers], [.noCode, .noUser]]
    }

    func conditions(_ section: Section, _ name: String) -> [ReportCondition] {
        guard let node = section.value(name) else { return [] }
        if let text = node.scalar?.string, let path = path(text, node, section) {
            return [ReportCondition(path: path, values: [])]
        }
        let conditions = Section(node, at: node, name: section.path(name), section.diagnostics)
        return conditions.all.compactMap { key, name, value in
            guard let path = path(name, key, section) else { return nil }
            let nodes: [Node] = value.sequence.map { Array($0) } ?? [value]
            let values = nodes.map { node -> String? in
                node.scalar?.jsonWord == "null" ? nil : node.scalar?.string
            }
            if nodes.contains(where: { $0.scalar == nil }) || nodes.count > 32 {
                section.diagnostics.error(
                    value, "\(conditions.path(name)) must be a string, an integer or a list of them")
            }
            return ReportCondition(path: path, values: values)
        }
    }

    /// Returns the paths under `name`: texts with dots between names, or lists of names.
    private func paths(_ section: Section, _ name: String) -> [ReportPath]? {
        guard let node = section.value(name) else { return nil }
        let nodes: [Node] = node.sequence.map { Array($0) } ?? [node]
        guard 1...16 ~= nodes.count else {
            section.diagnostics.error(node, "\(section.path(name)) must be up to 16 members of a report")
            return nil
        }
        return nodes.compactMap { node in
            if let scalar = node.scalar { return path(scalar.string, node, section) }
            guard let names = try? section.plainTexts(node), 1...6 ~= names.count, !names.contains("") else {
                section.diagnostics.error(node, "\(section.path(name)) must be members of a report, such as data.code")
                return nil
            }
            return ReportPath(names: names)
        }
    }

    private func path(_ text: String, _ node: Node, _ section: Section) -> ReportPath? {
        let names = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard 1...6 ~= names.count, names.allSatisfy({ !$0.isEmpty && !$0.contains(" ") && !$0.contains("{") }) else {
            section.diagnostics.error(
                node,
                "\"\(text)\" is no member of a report; a path is names with dots between them, such as data.code, and selects no part of a string"
            )
            return nil
        }
        return ReportPath(names: names)
    }
}
