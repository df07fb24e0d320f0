import AdapterKit

/// A vendor's page, like the READMEs of compiled adapters: every rule of the file, for people.
package struct DocsPage {
    private let description: VendorDescription

    package init(_ description: VendorDescription) { self.description = description }

    package var text: String {
        ([head, settings, vouched, reports, codes, token, keys, rest] as [[String]]).filter { !$0.isEmpty }
            .map { $0.joined(separator: "\n") }.joined(separator: "\n\n") + "\n"
    }

    private var head: [String] {
        var lines = ["# \(description.vendor)", "", description.about]
        if !description.missing.isEmpty {
            lines += ["", "**Not known**, and to be looked up before this is relied on:", ""]
            lines += description.missing.map { "- \($0.text)" }
        }
        if !description.ours.isEmpty {
            lines += ["", "**Ours**, since the vendor does not document it:", ""] + description.ours.map { "- \($0)" }
        }
        return lines + platforms
    }

    /// The SDKs that were read: without them, a page without missing facts would seem to cover every SDK.
    private var platforms: [String] {
        guard let platforms = description.platforms else {
            return ["", "**SDKs**: the file does not state which SDKs were read for it."]
        }
        var lines = ["", "**SDKs read** for these rules:", ""] + platforms.read.map { "- \($0)" }
        if platforms.read.isEmpty { lines += ["- none"] }
        if !platforms.notRead.isEmpty {
            lines +=
                ["", "**SDKs not read**, whose reports may differ:", ""] + platforms.notRead.map { "- \($0.text)" }
        }
        return lines
    }

    private var settings: [String] {
        guard !description.settings.isEmpty else { return ["## Settings", "", "None."] }
        return ["## Settings", "", "| setting | required | what |", "|---|---|---|"]
            + description.settings.map {
                "| `\($0.name)` | \($0.isRequired ? "yes" : "no") | \(cell($0.key.summary)) |"
            }
    }

    private var vouched: [String] {
        guard !description.vouched.isEmpty else { return [] }
        return [
            "## What the edge may vouch for", "",
            "Beside `user`, under `vouched` of an event. No device's report can set it.", "",
            "| member | type | required | what |", "|---|---|---|---|",
        ]
            + description.vouched.map {
                "| `\($0.name)` | \(typeCell($0)) | \($0.isRequired ? "yes" : "no") | \(cell($0.about)) |"
            } + missingMembers
    }

    private func typeCell(_ member: VouchedMember) -> String {
        member.strings.text.map { "\(member.kind.rawValue), \(cell($0))" } ?? member.kind.rawValue
    }

    private var missingMembers: [String] {
        guard description.vouched.contains(where: \.isRequired) else { return [] }
        return [
            "",
            "An event that lacks a required member has no token: the worker dead-letters it as `missing_vouched`. A batch job names "
                + "users alone, so it cannot ask for these tokens.",
        ]
    }

    private var reports: [String] {
        var lines = ["## Reports", "", "| SDK | user | code | sign |", "|---|---|---|---|"]
        for shape in description.report.shapes {
            let when = shape.conditions.map { condition in
                condition.values.isEmpty
                    ? "`\(condition.path.text)`"
                    : "`\(condition.path.text)` is \(condition.values.map { $0 ?? "absent" }.joined(separator: " or "))"
            }
            lines.append(
                "| \(cell(shape.name)) | \(names(shape.user)) | \(names(shape.code)) | \(when.isEmpty ? "all others" : when.joined(separator: ", ")) |"
            )
        }
        return lines + ["", identifiers]
    }

    private var identifiers: String {
        let rule = description.report.identifiers
        var line = "A user's id has at most \(rule.limit.text) and no control character"
        if let characters = rule.characters { line += "; its characters are those of `\(characters.text)`" }
        if !rule.never.isEmpty { line += "; none is \(rule.never.map { "`\($0)`" }.joined(separator: ", "))" }
        return line + "."
    }

    private func names(_ paths: [ReportPath]) -> String {
        paths.isEmpty ? "-" : paths.map { "`\($0.text)`" }.joined(separator: ", ")
    }

    private var codes: [String] {
        ["## Codes", ""] + CodesTable.head + CodesTable(description).rows
    }

    private var token: [String] {
        let life = description.token.lifetime
        let algorithm =
            switch description.token.signing {
            case .fixed(let algorithm): algorithm.rawValue
            case .setting(let name): "the value of the setting `\(name)`"
            }
        let header = ["alg"] + description.token.header.map(\.name)
        let end =
            if let age = description.token.ageLimit {
                "has no `exp`: the vendor refuses it \(age) s after its `iat`"
            } else {
                "lives \(life.standard) s unless configured, from \(life.allowed.lowerBound) s to \(life.allowed.upperBound) s"
            }
        let isAnybodys = description.token.namesUser ? [] : ["- names no user: whoever has the token can use it"]
        return [
            "## Token", "", "- algorithm: \(algorithm)",
            "- header: \(header.map { "`\($0)`" }.joined(separator: ", "))",
            "- claims: \(claims.map { "`\($0)`" }.joined(separator: ", "))",
            "- \(end)",
        ] + isAnybodys
    }

    /// The names of all claims that a token can have, those of every choice. An ellipsis is a part that differs.
    package var claims: [String] { description.token.claims.flatMap(claimNames) }

    private func claimNames(_ rule: ClaimRule) -> [String] {
        switch rule {
        case .claim(let name, _, _):
            [
                name.map {
                    switch $0 {
                    case .constant(let text): text
                    case .placeholder: "…"
                    }
                }.joined()
            ]
        case .oneOf(_, let choices): choices.keys.sorted().flatMap { (choices[$0] ?? []).flatMap(claimNames) }
        }
    }

    private var keys: [String] {
        let handover = description.key.handover
        var lines = ["## Keys", ""]
        if let encoding = description.key.encoding { lines.append("- the secret is written as \(encoding.rawValue)") }
        if description.key.derivation != nil {
            lines.append("- tokens are signed with HMAC-SHA256(secret, `YYYYMMDD` of the day in UTC)")
        }
        lines.append(
            "- older tokens \(handover.overlap == .several ? "stay good" : "are refused once the key changes")")
        for (title, steps) in [
            ("before a new key signs", handover.beforePromotion), ("once it signs", handover.afterPromotion),
            ("once no token of the old one lives", handover.afterRetirement),
        ] where !steps.isEmpty {
            lines.append("- \(title):")
            lines += steps.enumerated().map { "  \($0.offset + 1). \($0.element)" }
        }
        return lines
    }

    private var rest: [String] {
        var lines = ["## Device", "", "`\(description.device.call)`"]
        if !description.sources.isEmpty {
            lines += ["", "## Sources", ""] + description.sources.map { "- \($0)" }
        }
        return lines
    }

    private func cell(_ text: String) -> String {
        text.split(separator: "|", omittingEmptySubsequences: false).joined(separator: "\\|")
    }
}

/// A vendor's codes as rows of a table.
package struct CodesTable {
    private let description: VendorDescription

    package init(_ description: VendorDescription) { self.description = description }

    package static let head = ["| code | matches | remedy | evidence | means |", "|---|---|---|---|---|"]

    /// A row for each code: its name, its form in a report, remedy, evidence, meaning.
    package var rows: [String] {
        let codes = description.codes
        var rows = codes.codes.map { row($0, $0.matches.map(spelling).joined(separator: ", ")) }
        if let missing = codes.missing { rows.append(row(missing, "no code")) }
        if let unknown = codes.unknown { rows.append(row(unknown, "any other code")) }
        return rows
    }

    private func row(_ code: DeclaredCode, _ matches: String) -> String {
        let about = [code.about, code.remedy.why, code.isAhead ? "asked ahead, nothing failed" : ""].filter {
            !$0.isEmpty
        }
        return
            "| `\(code.name)` | \(matches) | \(code.remedy.name) | \(code.evidence.rawValue) | \(about.joined(separator: "; ")) |"
    }

    private func spelling(_ match: CodeMatch) -> String {
        let value =
            switch match.value {
            case .numbers(let range):
                range.count == 1 ? "`\(range.lowerBound)`" : "`\(range.lowerBound)..\(range.upperBound)`"
            case .text(let text): "`\(text)`"
            case .any: ""
            case .always: "every report"
            }
        let message = match.message.isEmpty ? "" : "message with “\(match.message)”"
        let conditions = match.conditions.map { "`\($0.path.text)`" }.joined(separator: ", ")
        return [value, message, conditions.isEmpty ? "" : "by \(conditions)"].filter { !$0.isEmpty }.joined(
            separator: " ")
    }
}
