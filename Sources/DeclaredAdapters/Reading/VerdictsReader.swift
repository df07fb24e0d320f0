import AdapterKit
import YAMLReading
import Yams

/// Reads `vendor_says`: the vendor's checks in its order.
struct VerdictsReader {
    func read(_ section: Section) -> VerdictRules {
        defer { section.finish() }
        let otherwise = answer(section.value("otherwise"), section, "otherwise")
        if otherwise == nil, section.value("otherwise") == nil {
            section.diagnostics.error(
                section.node,
                "vendor_says.otherwise is missing: the vendor's answer to a token that it refuses, such as 401 Unauthorized"
            )
        }
        return VerdictRules(
            rules: rules(section), otherwise: otherwise ?? .refused(code: "-", name: "-"),
            unchecked: Set(section.texts("unchecked") ?? []), optional: Set(section.texts("optional") ?? []))
    }

    private func rules(_ section: Section) -> [VerdictRules.Rule] {
        guard let node = section.value("first") else { return [] }
        guard let nodes = node.sequence, nodes.count <= 64 else {
            section.diagnostics.error(node, "\(section.path("first")) must be a list of checks")
            return []
        }
        return nodes.compactMap { node in
            let rule = Section(node, at: node, name: section.path("first"), section.diagnostics)
            defer { rule.finish() }
            guard let check = rule.choice("if", VerdictRules.Check.self)?.choice else {
                if rule.value("if") == nil {
                    section.diagnostics.error(node, "a check needs \"if\" and \"says\"")
                }
                return nil
            }
            let members = rule.texts("members") ?? []
            if [.headerLacks, .claimsLack].contains(check), members.isEmpty {
                section.diagnostics.error(node, "\(check.rawValue) needs \"members\", what must be there")
            }
            guard let answer = answer(rule.value("says"), rule, "says") else { return nil }
            return VerdictRules.Rule(check: check, members: members, answer: answer)
        }
    }

    /// Reads a verdict: a code, a space, a name.
    private func answer(_ node: Node?, _ section: Section, _ name: String) -> VendorVerdict? {
        guard let node else { return nil }
        let parts = node.scalar?.string.split(separator: " ", maxSplits: 1).map(String.init) ?? []
        guard parts.count == 2 else {
            section.diagnostics.error(
                node, "\(section.path(name)) is the vendor's code, a space and its name, such as 401 Unauthorized")
            return nil
        }
        return .refused(code: parts[0], name: parts[1])
    }
}
