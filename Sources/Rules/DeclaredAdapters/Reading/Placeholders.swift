import AdapterKit
import YAMLReading
import Yams

/// Reads the placeholders between double braces.
struct Placeholders {
    let settings: [DeclaredSetting]
    let vouched: [VouchedMember]
    /// Whether tokens answer a challenge.
    let isChallenged: Bool
    let diagnostics: Diagnostics

    /// Returns the parts of `text`; nil where it has errors, which `diagnostics` then has.
    func parts(of text: String, at node: Node) -> [TextRule]? {
        var parts: [TextRule] = []
        var rest = text[...]
        while let start = Self.index(of: "{{", in: rest) {
            if start > rest.startIndex { parts.append(.constant(String(rest[..<start]))) }
            let inside = rest[rest.index(start, offsetBy: 2)...]
            guard let end = Self.index(of: "}}", in: inside) else {
                diagnostics.error(node, "\"{{\" is never closed; a placeholder is written {{user}}")
                return nil
            }
            guard let placeholder = placeholder(String(inside[..<end]), node) else { return nil }
            parts.append(.placeholder(placeholder))
            rest = inside[inside.index(end, offsetBy: 2)...]
        }
        if !rest.isEmpty { parts.append(.constant(String(rest))) }
        return parts
    }

    private static func index(of pair: String, in text: Substring) -> String.Index? {
        guard let mark = pair.first else { return nil }
        var from = text.startIndex
        while let at = text[from...].firstIndex(of: mark) {
            let next = text.index(after: at)
            if next < text.endIndex, text[next] == mark { return at }
            from = next
        }
        return nil
    }

    private static let plain: [String: Placeholder] = [
        "user": .user, "challenge": .challenge, "key_id": .keyID, "uuid": .uuid, "date": .date,
        "now": .moment(Moment(.issuedAt)), "expires": .moment(Moment(.expiresAt)),
    ]

    /// Words for values that a device could set.
    private static let outside: Set<String> = [
        "report", "device", "event", "message", "reason", "code", "token", "error", "data", "headers", "edge",
    ]

    private func placeholder(_ text: String, _ node: Node) -> Placeholder? {
        let word = text.trimmingSpaces
        if let plain = Self.plain[word] {
            if plain == .challenge, !isChallenged {
                diagnostics.error(
                    node, "{{challenge}} needs report.challenge, the member of a report that has its nonce")
                return nil
            }
            return plain
        }
        let parts = word.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        switch (parts.first ?? "", parts.count) {
        case ("settings", 2): return setting(parts[1], node)
        case ("vouched", 2): return member(parts[1], node)
        case (let first, _) where Self.outside.contains(first):
            diagnostics.error(
                node,
                "{{\(word)}} would let a report decide what a token grants; a token takes {{user}}, {{settings.…}} and what the edge vouches for, {{vouched.…}}, alone"
            )
            return nil
        default: return shifted(word, node)
        }
    }

    private func setting(_ name: String, _ node: Node) -> Placeholder? {
        if settings.contains(where: { $0.name == name }) { return .setting(name) }
        let meant = Spelling.nearest(to: name, among: settings.map(\.name)).map { "; did you mean settings.\($0)?" }
        diagnostics.error(node, "settings has no \(name)\(meant ?? "; declare it under settings")")
        return nil
    }

    private func member(_ name: String, _ node: Node) -> Placeholder? {
        if vouched.contains(where: { $0.name == name }) { return .vouched(name) }
        let meant = Spelling.nearest(to: name, among: vouched.map(\.name)).map { "; did you mean vouched.\($0)?" }
        diagnostics.error(node, "vouched has no \(name)\(meant ?? "; declare it under vouched")")
        return nil
    }

    /// Parses a shifted time, such as `now+48h` or `expires-10s`.
    private func shifted(_ word: String, _ node: Node) -> Placeholder? {
        for (name, base) in [("now", Moment.Base.issuedAt), ("expires", .expiresAt)] {
            guard word.hasPrefix(name), let sign = word.dropFirst(name.count).first, sign == "+" || sign == "-" else {
                continue
            }
            guard let seconds = Self.seconds(String(word.dropFirst(name.count + 1))) else {
                diagnostics.error(node, "{{\(word)}} is written with a duration of whole seconds, such as {{now+48h}}")
                return nil
            }
            return .moment(Moment(base, offset: sign == "-" ? -seconds : seconds))
        }
        let known =
            Self.plain.keys.sorted() + settings.map { "settings.\($0.name)" }
            + vouched.map { "vouched.\($0.name)" }
        let meant = Spelling.nearest(to: word, among: known).map { "did you mean {{\($0)}}?" }
        diagnostics.error(
            node, "no placeholder is called {{\(word)}}; \(meant ?? "known: \(known.joined(separator: ", "))")")
        return nil
    }

    static func seconds(_ text: String) -> Int64? {
        guard let duration = DurationText.parse(text), duration.components.attoseconds == 0 else { return nil }
        return duration.components.seconds
    }
}

extension String {
    var trimmingSpaces: String {
        let start = drop { $0 == " " }
        return String(start.reversed().drop { $0 == " " }.reversed())
    }
}
