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
            section.error(FileKeys.Report.shapes, at: node, "must be a list of up to 32 shapes")
            return []
        }
        return section.each(nodes, of: FileKeys.Report.shapes, FileKeys.Report.shape) { shape, node in
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
        return section.each(nodes, of: FileKeys.Report.belongs, FileKeys.Belonging.all) { belonging, _ in
            guard let paths = paths(belonging, FileKeys.Belonging.at),
                let (text, place) = belonging.placed(FileKeys.Belonging.setting)
            else {
                return nil
            }
            let name = text.hasPrefix("settings.") ? String(text.dropFirst("settings.".count)) : text
            guard settings.contains(where: { $0.name == name }) else {
                belonging.error(FileKeys.Belonging.setting, at: place, "must name a setting, such as settings.app_id")
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
                section.error(
                    FileKeys.Report.userCharacters, at: node,
                    "is a class of visible ASCII characters, such as \"[A-Za-z0-9_-]\", or \"[^*]\" for all but those")
            }
        }
        let never = section.read(FileKeys.Report.userNever) ?? []
        if never.count > 64 || never.contains(where: { $0.isEmpty || $0.utf8.count > 1024 }) {
            section.error(FileKeys.Report.userNever, "is a list of up to 64 ids that no user has, such as [\"*\"]")
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
        section.error(FileKeys.Report.userLimit, at: node, "is written as 255 characters or 512 bytes, of at most 1024")
        return .standard
    }

    private func strangers(_ section: Section) -> [Set<StrangerSign>]? {
        guard let node = section.read(FileKeys.Report.anotherVendors) else { return nil }
        guard let lists = node.sequence, lists.count <= 8 else {
            section.error(FileKeys.Report.anotherVendors, at: node, "must be a list of lists of signs")
            return nil
        }
        let known = StrangerSign.allCases.map(\.rawValue)
        return lists.map { list in
            let words = list.texts ?? []
            let signs = words.compactMap(StrangerSign.init(rawValue:))
            if signs.isEmpty || signs.count != words.count {
                section.error(
                    FileKeys.Report.anotherVendors, at: list, "lists signs of \(known.joined(separator: ", "))")
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
            section.error(key, at: node, "must be up to 16 members of a report")
            return nil
        }
        return nodes.compactMap { node in
            if let scalar = node.scalar { return path(scalar.string, node, section) }
            guard let names = node.texts, 1...6 ~= names.count, !names.contains("") else {
                section.error(key, at: node, "must be members of a report, such as data.code")
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

/// Reads `codes`: the vendor's reasons, each with its remedy.
struct CodesReader {
    let report: ReportRules
    let settings: [DeclaredSetting]

    private static let most = 256

    func read(_ root: Section) -> CodeRules {
        var codes: [(code: DeclaredCode, node: Node)] = []
        if let node = root.value(of: FileKeys.codes) {
            if let nodes = node.sequence, 1...Self.most ~= nodes.count {
                codes = nodes.compactMap { node in
                    code(node, FileKeys.codes, root, needsMatch: true).map { (code: $0, node: node) }
                }
            } else {
                root.diagnostics.error(node, "codes must be a list of codes, at most \(Self.most)")
            }
        } else {
            root.missing(
                FileKeys.codes.name, "codes is missing: what the vendor's reasons are called, and what each calls for")
        }
        let unknown = root.read(FileKeys.unknownCode).flatMap {
            code($0, FileKeys.unknownCode, root, needsMatch: false)
        }
        let missing = root.read(FileKeys.noCode).flatMap { code($0, FileKeys.noCode, root, needsMatch: false) }
        check(codes, root)
        return CodeRules(
            codes: codes.map { $0.code }, unknown: unknown, missing: missing,
            ignoresCase: root.read(FileKeys.ignoreCase) ?? false)
    }

    /// Refuses two codes that match the same report, because the second would never be used.
    private func check(_ codes: [(code: DeclaredCode, node: Node)], _ root: Section) {
        var seen: [String: String] = [:]
        for (code, node) in codes {
            for match in code.matches where match.conditions.isEmpty && match.message.isEmpty {
                guard let first = seen.updateValue(code.name, forKey: "\(match.value)") else { continue }
                root.diagnostics.error(
                    node, "two codes match the same, \(first) and \(code.name); the second would never be read")
            }
        }
        let hasCode = report.shapes.contains { !$0.code.isEmpty || !$0.message.isEmpty }
        let isAlways = codes.contains { $0.code.matches.contains { $0.value == .always } }
        if !hasCode, !isAlways, !codes.isEmpty {
            root.diagnostics.error(
                root.value(of: FileKeys.codes),
                "report names no code, so one of the codes must be for every report: match: always"
            )
        }
    }

    private func code(_ node: Node, _ key: FileKey<Node>, _ root: Section, needsMatch: Bool) -> DeclaredCode? {
        let section = Section(node, at: node, name: root.path(of: key), root.diagnostics).declare(FileKeys.Code.all)
        defer { section.finish() }
        let title = section.read(FileKeys.Code.name)
        let matches = section.read(FileKeys.Code.match).map { self.matches(of: $0, section) }
        let remedy = remedy(section, FileKeys.Code.remedy)
        if remedy == nil, section.value(of: FileKeys.Code.remedy) == nil {
            section.missing(
                FileKeys.Code.remedy.name,
                "\(title.map { "the code \($0)" } ?? section.name) lacks its remedy: mint, mint_once, not_fixable or not_for_us"
            )
        }
        let signed = signerRemedies(section)
        let own = self.remedy(section, FileKeys.Code.ifTokenNamesUser)
        if !report.holdsToken,
            let node = section.value(of: FileKeys.Code.signedBy) ?? section.value(of: FileKeys.Code.ifTokenNamesUser)
        {
            section.diagnostics.error(node, "reports have no token to check; name its member: report.token")
        }
        let evidence = evidence(section, title, remedy)
        let about = section.read(FileKeys.Code.about) ?? ""
        let hadNoToken = section.read(FileKeys.Code.hadNoToken) ?? false
        let isAhead = section.read(FileKeys.Code.ahead) ?? false
        guard let title, let remedy, let evidence else { return nil }
        return DeclaredCode(
            name: title, about: about,
            matches: matches ?? (needsMatch ? [CodeMatch(value: .text(title), message: "", conditions: [])] : []),
            evidence: evidence, remedy: remedy, signerRemedies: signed, ownTokenRemedy: own,
            hadNoToken: hadNoToken, isAhead: isAhead)
    }

    // MARK: Matches

    private func matches(of node: Node, _ section: Section) -> [CodeMatch] {
        let nodes: [Node] = node.sequence.map { Array($0) } ?? [node]
        guard nodes.count <= 64 else {
            section.error(FileKeys.Code.match, at: node, "has more than 64 spellings")
            return []
        }
        return nodes.compactMap { match($0, section) }
    }

    private func match(_ node: Node, _ section: Section) -> CodeMatch? {
        if let scalar = node.scalar {
            return value(of: scalar, node, section).map { CodeMatch(value: $0, message: "", conditions: []) }
        }
        let match = Section(node, at: node, name: section.path(of: FileKeys.Code.match), section.diagnostics)
            .declare(FileKeys.Match.all)
        defer { match.finish() }
        var value = CodeMatch.Value.any
        if let code = match.read(FileKeys.Match.code) {
            guard let scalar = code.scalar, let read = self.value(of: scalar, code, section) else { return nil }
            value = read
        }
        let message = match.read(FileKeys.Match.message)?.lowercased() ?? ""
        if let (_, node) = match.placed(FileKeys.Match.message), report.shapes.allSatisfy({ $0.message.isEmpty }) {
            section.diagnostics.error(node, "reports have no message to check; name its member: report.message")
        }
        let conditions = ReportReader(settings: settings).conditions(match, FileKeys.Match.condition)
        if value == .any, message.isEmpty, conditions.isEmpty {
            section.diagnostics.error(node, "a match needs \"code\", \"message\" or \"where\"")
            return nil
        }
        return CodeMatch(value: value, message: message, conditions: conditions)
    }

    private func value(of scalar: Node.Scalar, _ node: Node, _ section: Section) -> CodeMatch.Value? {
        let text = scalar.string
        if text == "always", scalar.style == .plain { return .always }
        if scalar.style == .plain, let number = Int64(text) { return .numbers(number...number) }
        let ends = text.split(separator: "…", omittingEmptySubsequences: false).flatMap { $0.split(separator: "..") }
        if scalar.style == .plain, ends.count == 2, let low = Int64(ends[0]), let high = Int64(ends[1]) {
            guard low <= high, high.subtractingReportingOverflow(low).partialValue <= 10_000,
                !high.subtractingReportingOverflow(low).overflow
            else {
                section.diagnostics.error(node, "\(text) is no range of up to 10000 numbers, the lower first")
                return nil
            }
            return .numbers(low...high)
        }
        guard !text.isEmpty, text.utf8.count <= 256 else {
            section.diagnostics.error(node, "a code is an integer, a range such as 10..16, or a string")
            return nil
        }
        return .text(text)
    }

    // MARK: Evidence

    /// Returns the code's evidence, which fits its remedy and its marks.
    private func evidence(_ section: Section, _ title: String?, _ remedy: Remedy?) -> Evidence? {
        let name = title.map { "the code \($0)" } ?? section.name
        guard let node = section.read(FileKeys.Code.evidence) else {
            section.missing(
                FileKeys.Code.evidence.name, "\(name) has no evidence; add evidence: \(Evidence.choices)")
            return nil
        }
        guard let evidence = node.scalar.flatMap({ Evidence(rawValue: $0.string) }) else {
            let meant = node.scalar.flatMap {
                Spelling.nearest(to: $0.string, among: Evidence.allCases.map(\.rawValue))
            }
            section.error(
                FileKeys.Code.evidence, at: node,
                "is one of \(Evidence.choices)\(meant.map { "; did you mean \($0)?" } ?? "")")
            return nil
        }
        if evidence == .revoked, remedy?.mints == false {
            section.diagnostics.error(
                node,
                "\(name) is evidence that the token was revoked, which another token fixes; its remedy must be mint")
        }
        for mark in [FileKeys.Code.hadNoToken, FileKeys.Code.ahead]
        where evidence != .none && section.value(of: mark)?.bool == true {
            section.diagnostics.error(
                node, "\(name) is marked \(mark.name), so no token failed; its evidence must be none")
        }
        return evidence
    }

    // MARK: Remedies

    private func signerRemedies(_ section: Section) -> SignerRemedies? {
        guard let signed = section.read(FileKeys.Code.signedBy) else { return nil }
        defer { signed.finish() }
        let active = remedy(signed, FileKeys.SignedBy.active), older = remedy(signed, FileKeys.SignedBy.older)
        guard let active, let older else { return nil }
        return SignerRemedies(active: active, older: older)
    }

    private func remedy(_ section: Section, _ key: FileKey<Node>) -> Remedy? {
        guard let node = section.read(key) else { return nil }
        switch node.scalar?.string {
        case "mint"?: return .mint
        case "mint_once"?: return .mintOnce
        case "not_fixable"?, "not_for_us"?:
            section.error(key, at: node, "needs its reason: { \(node.scalar?.string ?? ""): the reason }")
            return nil
        case let text?:
            let known = FileKeys.Remedy.allWords
            let meant = Spelling.nearest(to: text, among: known).map { "; did you mean \($0)?" } ?? ""
            section.error(key, at: node, "is one of \(known.joined(separator: ", "))\(meant)")
            return nil
        case nil: break
        }
        let remedy = section.section(key)
        defer { remedy.finish() }
        if let why = remedy.read(FileKeys.Remedy.notFixable) { return .notFixable(why) }
        if let why = remedy.read(FileKeys.Remedy.notForUs) { return .notForUs(why) }
        section.error(key, at: node, "is mint, mint_once, { not_fixable: why } or { not_for_us: why }")
        return nil
    }
}
