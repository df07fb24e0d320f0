import AdapterKit
import YAMLReading
import Yams

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
            section.diagnostics.error(node, "\(section.path(of: FileKeys.Code.match)) has more than 64 spellings")
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
            section.diagnostics.error(
                node,
                "\(section.path(of: FileKeys.Code.evidence)) is one of \(Evidence.choices)\(meant.map { "; did you mean \($0)?" } ?? "")"
            )
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
            section.diagnostics.error(
                node, "\(section.path(of: key)) needs its reason: { \(node.scalar?.string ?? ""): the reason }")
            return nil
        case let text?:
            let known = FileKeys.Remedy.allWords
            let meant = Spelling.nearest(to: text, among: known).map { "; did you mean \($0)?" } ?? ""
            section.diagnostics.error(
                node, "\(section.path(of: key)) is one of \(known.joined(separator: ", "))\(meant)")
            return nil
        case nil: break
        }
        let remedy = section.section(key)
        defer { remedy.finish() }
        if let why = remedy.read(FileKeys.Remedy.notFixable) { return .notFixable(why) }
        if let why = remedy.read(FileKeys.Remedy.notForUs) { return .notForUs(why) }
        section.diagnostics.error(
            node, "\(section.path(of: key)) is mint, mint_once, { not_fixable: why } or { not_for_us: why }")
        return nil
    }
}
