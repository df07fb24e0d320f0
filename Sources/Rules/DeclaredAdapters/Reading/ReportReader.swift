import AdapterKit
import YAMLReading
import Yams

/// Reads `report`: the shapes of SDKs' reports.
struct ReportReader {
    let settings: [DeclaredSetting]

    func read(_ section: Section) -> ReportRules {
        let wrapping = wrapping(section)
        let base = shape(section, name: "any", before: nil)
        let shapes = section.read(FileKeys.Report.shapes).map { self.shapes(of: $0, section, base) } ?? []
        let anonymous = section.read(FileKeys.Report.anonymous) ?? "anonymous user"
        let strangers = strangers(section)
        let rules = ReportRules(
            wrapping: wrapping, shapes: shapes + [base], members: Set(section.read(FileKeys.Report.members) ?? []),
            strangers: strangers ?? standardStrangers(base), belongings: belongings(section),
            identifiers: identifiers(section),
            anonymous: anonymous)
        check(rules, section)
        section.finish()
        return rules
    }

    /// Refuses rules that would find the user in a message for people, or use a token as the user.
    private func check(_ rules: ReportRules, _ section: Section) {
        for shape in rules.shapes {
            if shape.user.isEmpty {
                section.missing(
                    FileKeys.Shape.user.name,
                    "\(section.name) does not name the user's member; add user: [member, …], as the SDK or app sends it"
                )
                return
            }
            for path in shape.user {
                let others = [
                    (FileKeys.Shape.message, shape.message), (FileKeys.Shape.token, shape.token),
                    (FileKeys.Shape.tokenHash, shape.tokenHash), (FileKeys.Shape.code, shape.code),
                    (FileKeys.Shape.challenge, shape.challenge),
                ]
                for (key, paths) in others where paths.contains(path) {
                    section.diagnostics.error(
                        section.value(of: FileKeys.Shape.user) ?? section.node,
                        "the user cannot stand where \(key.name) does (\(path.text)): a user is a whole member, never a part of a string"
                    )
                }
            }
        }
    }

    // MARK: Shapes

    private func shapes(of node: Node, _ section: Section, _ base: ReportShape) -> [ReportShape] {
        guard let nodes = node.sequence, nodes.count <= 32 else {
            section.diagnostics.error(
                node, "\(section.path(of: FileKeys.Report.shapes)) must be a list of up to 32 shapes")
            return []
        }
        return nodes.map { node in
            let shape = Section(node, at: node, name: section.path(of: FileKeys.Report.shapes), section.diagnostics)
                .declare(FileKeys.Report.shape)
            defer { shape.finish() }
            let name = shape.read(FileKeys.Report.sdk) ?? ""
            let read = self.shape(shape, name: name, before: base)
            if read.conditions.isEmpty, shape.value(of: FileKeys.Report.when) != nil {
                section.diagnostics.error(node, "a shape needs \"when\", which no other shape matches")
            }
            return read
        }
    }

    /// Reads a shape; members that it does not name come from `base`.
    private func shape(_ section: Section, name: String, before base: ReportShape?) -> ReportShape {
        let conditions = base == nil ? [] : conditions(section, FileKeys.Report.when)
        let time = self.time(section, FileKeys.Shape.time), deadline = self.time(section, FileKeys.Shape.deadline)
        let usefulFor = section.read(FileKeys.Shape.usefulFor)
        return ReportShape(
            name: name, conditions: conditions,
            user: paths(section, FileKeys.Shape.user) ?? base?.user ?? [],
            nobody: section.read(FileKeys.Shape.nobody).map { Set($0) } ?? base?.nobody ?? [],
            code: paths(section, FileKeys.Shape.code) ?? base?.code ?? [],
            codeType: section.read(FileKeys.Shape.codeType) ?? base?.codeType ?? .any,
            message: paths(section, FileKeys.Shape.message) ?? base?.message ?? [],
            token: paths(section, FileKeys.Shape.token) ?? base?.token ?? [],
            noToken: section.read(FileKeys.Shape.noToken).map { Set($0) } ?? base?.noToken ?? [],
            tokenHash: paths(section, FileKeys.Shape.tokenHash) ?? base?.tokenHash ?? [],
            passed: paths(section, FileKeys.Shape.passed) ?? base?.passed ?? [],
            challenge: paths(section, FileKeys.Shape.challenge) ?? base?.challenge ?? [],
            time: time ?? base?.time, deadline: deadline ?? base?.deadline, usefulFor: usefulFor ?? base?.usefulFor)
    }

    private func time(_ section: Section, _ key: FileKey<Node>) -> ReportTime? {
        guard section.read(key) != nil else { return nil }
        let time = section.section(key)
        defer { time.finish() }
        let paths = paths(time, FileKeys.Time.at), unit = time.read(FileKeys.Time.unit)
        guard let paths, let unit else { return nil }
        return ReportTime(paths: paths, unit: unit)
    }

    // MARK: Parts

    private func wrapping(_ section: Section) -> Wrapping? {
        guard let wrapped = section.read(FileKeys.Report.wrapped) else { return nil }
        defer { wrapped.finish() }
        return Wrapping(
            names: wrapped.read(FileKeys.Wrapped.names) ?? [], depth: wrapped.read(FileKeys.Wrapped.depth) ?? 1,
            isText: wrapped.read(FileKeys.Wrapped.text) ?? false)
    }

    private func belongings(_ section: Section) -> [Belonging] {
        guard let node = section.read(FileKeys.Report.belongs) else { return [] }
        let nodes: [Node] = node.sequence.map { Array($0) } ?? [node]
        return nodes.compactMap { node in
            let belonging = Section(
                node, at: node, name: section.path(of: FileKeys.Report.belongs), section.diagnostics
            ).declare(FileKeys.Belonging.all)
            defer { belonging.finish() }
            guard let paths = paths(belonging, FileKeys.Belonging.at),
                let (text, place) = belonging.placed(FileKeys.Belonging.setting)
            else {
                return nil
            }
            let name = text.hasPrefix("settings.") ? String(text.dropFirst("settings.".count)) : text
            guard settings.contains(where: { $0.name == name }) else {
                section.diagnostics.error(
                    place,
                    "\(belonging.path(of: FileKeys.Belonging.setting)) must name a setting, such as settings.app_id")
                return nil
            }
            let otherwise = belonging.read(FileKeys.Belonging.otherwise) ?? ""
            return Belonging(paths: paths, setting: name, otherwise: otherwise)
        }
    }

    /// Reads the rule for a user's id: `user_limit`, `user_characters`, `user_never`.
    private func identifiers(_ section: Section) -> IdentifierRule {
        var characters: IdentifierCharacters?
        if let (text, node) = section.placed(FileKeys.Report.userCharacters) {
            characters = IdentifierCharacters(text)
            if characters == nil {
                section.diagnostics.error(
                    node,
                    "\(section.path(of: FileKeys.Report.userCharacters)) is a class of visible ASCII characters, such as \"[A-Za-z0-9_-]\", or \"[^*]\" for all but those"
                )
            }
        }
        let never = section.read(FileKeys.Report.userNever) ?? []
        if never.count > 64 || never.contains(where: { $0.isEmpty || $0.utf8.count > 1024 }) {
            section.diagnostics.error(
                section.value(of: FileKeys.Report.userNever),
                "\(section.path(of: FileKeys.Report.userNever)) is a list of up to 64 ids that no user has, such as [\"*\"]"
            )
        }
        return IdentifierRule(limit(section), characters: characters, never: never)
    }

    private func limit(_ section: Section) -> IdentifierLimit {
        guard let (text, node) = section.placed(FileKeys.Report.userLimit) else { return .standard }
        let parts = text.split(separator: " ")
        if parts.count == 2, let count = Int(parts[0]), 1...1024 ~= count {
            if parts[1] == "bytes" { return .bytes(count) }
            if parts[1] == "characters" { return .characters(count) }
        }
        section.diagnostics.error(
            node,
            "\(section.path(of: FileKeys.Report.userLimit)) is written as 255 characters or 512 bytes, of at most 1024")
        return .standard
    }

    private func strangers(_ section: Section) -> [Set<StrangerSign>]? {
        guard let node = section.read(FileKeys.Report.anotherVendors) else { return nil }
        guard let lists = node.sequence, lists.count <= 8 else {
            section.diagnostics.error(
                node, "\(section.path(of: FileKeys.Report.anotherVendors)) must be a list of lists of signs")
            return nil
        }
        let known = StrangerSign.allCases.map(\.rawValue)
        return lists.map { list in
            let words = list.texts ?? []
            let signs = words.compactMap(StrangerSign.init(rawValue:))
            if signs.isEmpty || signs.count != words.count {
                section.diagnostics.error(
                    list,
                    "\(section.path(of: FileKeys.Report.anotherVendors)) lists signs of \(known.joined(separator: ", "))"
                )
            }
            return Set(signs)
        }.filter { !$0.isEmpty }
    }

    /// Returns the default signs of another vendor's report: it has members that the vendor never sends, and none of
    /// its codes.
    private func standardStrangers(_ base: ReportShape) -> [Set<StrangerSign>] {
        base.code.isEmpty ? [[.noUser, .otherMembers]] : [[.noKnownCode, .otherMembers], [.noCode, .noUser]]
    }

    func conditions(_ section: Section, _ key: FileKey<Node>) -> [ReportCondition] {
        guard let node = section.read(key) else { return [] }
        if let text = node.scalar?.string, let path = path(text, node, section) {
            return [ReportCondition(path: path, values: [])]
        }
        let conditions = Section(node, at: node, name: section.path(of: key), section.diagnostics)
        return conditions.all.compactMap { place, name, value in
            guard let path = path(name, place, section) else { return nil }
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

    /// Returns the paths under `key`: texts with dots between names, or lists of names.
    private func paths(_ section: Section, _ key: FileKey<Node>) -> [ReportPath]? {
        guard let node = section.read(key) else { return nil }
        let nodes: [Node] = node.sequence.map { Array($0) } ?? [node]
        guard 1...16 ~= nodes.count else {
            section.diagnostics.error(node, "\(section.path(of: key)) must be up to 16 members of a report")
            return nil
        }
        return nodes.compactMap { node in
            if let scalar = node.scalar { return path(scalar.string, node, section) }
            guard let names = node.texts, 1...6 ~= names.count, !names.contains("") else {
                section.diagnostics.error(
                    node, "\(section.path(of: key)) must be members of a report, such as data.code")
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
