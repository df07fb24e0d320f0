import AdapterKit
import YAMLReading
import Yams

/// Reads `vendor_says`: the vendor's checks in its order.
struct VerdictsReader {
    func read(_ section: Section) -> VerdictRules {
        defer { section.finish() }
        let otherwise = answer(section, FileKeys.Verdicts.otherwise)
        return VerdictRules(
            rules: rules(section), otherwise: otherwise ?? .refused(code: "-", name: "-"),
            unchecked: Set(section.read(FileKeys.Verdicts.unchecked) ?? []),
            optional: Set(section.read(FileKeys.Verdicts.optional) ?? []))
    }

    private func rules(_ section: Section) -> [VerdictRules.Rule] {
        guard let node = section.read(FileKeys.Verdicts.first) else { return [] }
        guard let nodes = node.sequence, nodes.count <= 64 else {
            section.diagnostics.error(node, "\(section.path(of: FileKeys.Verdicts.first)) must be a list of checks")
            return []
        }
        return nodes.compactMap { node in
            let rule = Section(node, at: node, name: section.path(of: FileKeys.Verdicts.first), section.diagnostics)
                .declare(FileKeys.Verdicts.Rule.all)
            defer { rule.finish() }
            guard let check = rule.read(FileKeys.Verdicts.Rule.check) else { return nil }
            let members = rule.read(FileKeys.Verdicts.Rule.members) ?? []
            if [.headerLacks, .claimsLack].contains(check), members.isEmpty {
                section.diagnostics.error(node, "\(check.rawValue) needs \"members\", what must be there")
            }
            guard let answer = answer(rule, FileKeys.Verdicts.Rule.says) else { return nil }
            return VerdictRules.Rule(check: check, members: members, answer: answer)
        }
    }

    /// Reads a verdict: a code, a space, a name.
    private func answer(_ section: Section, _ key: FileKey<Node>) -> VendorVerdict? {
        guard let node = section.read(key) else { return nil }
        let parts = node.scalar?.string.split(separator: " ", maxSplits: 1).map(String.init) ?? []
        guard parts.count == 2 else {
            section.diagnostics.error(
                node,
                "\(section.path(of: key)) is the vendor's code, a space and its name, such as 401 Unauthorized; a vendor without codes has a hyphen, in quotes: \"- refused\""
            )
            return nil
        }
        return .refused(code: parts[0], name: parts[1])
    }
}
