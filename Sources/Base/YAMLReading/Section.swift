package import Yams

/// A mapping of the file. It reads its members by name and, at the end, knows those that were never read.
package final class Section {
    package let node: Node?
    /// The place of messages about members that are missing: the section's own key where there is one, else its first member.
    package let place: Node?
    package let name: String
    package let diagnostics: Diagnostics
    private let members: [(key: Node, name: String, value: Node)]
    private var known: [String] = []
    /// The declared keys that the section needs, each with its meaning.
    private var required: [(name: String, summary: String)] = []
    /// The required keys whose absence was reported.
    private var reported: Set<String> = []
    /// Whether the file has no such section, so that only the section itself is missing.
    private let isAbsent: Bool
    private var isOpen = false

    /// The mapping `node`, called `name` in messages. Nil and null are an empty one.
    ///
    /// - Parameter place: the section's key, the place of messages about members that are missing.
    package init(_ node: Node?, at place: Node? = nil, name: String, _ diagnostics: Diagnostics) {
        self.node = node ?? place
        self.place = place ?? node
        isAbsent = node == nil
        self.name = name
        self.diagnostics = diagnostics
        if let node, node.mapping == nil, node.null == nil {
            diagnostics.refuse(node, "\(name.isEmpty ? "the file" : name) must be a mapping of names to values")
        }
        members = node?.mapping?.map { ($0.key, $0.key.string ?? "", $0.value) } ?? []
        var names: Set<String> = []
        for member in members where !names.insert(member.name).inserted {
            error(member.name, at: member.key, "is a duplicate; keep one of them")
        }
    }

    /// Every member, for a mapping whose names are the user's.
    package var all: [(key: Node, name: String, value: Node)] {
        isOpen = true
        return members
    }

    /// Returns what `read` makes of each member, which is a section with the declared `keys`.
    package func each<Result>(
        _ keys: [KeyDescription] = [], atMost most: Int = .max, _ read: (Section, _ name: String) -> Result?
    ) -> [Result] {
        all.prefix(most).compactMap { key, name, value in
            let section = Section(value, at: key, name: path(name), diagnostics).declare(keys)
            defer { section.finish() }
            return read(section, name)
        }
    }

    /// Returns what `read` makes of the elements `nodes` of `member`, which are sections with the declared `keys`.
    package func each<Result>(
        _ nodes: some Sequence<Node>, of member: any DeclaredMember, _ keys: [KeyDescription],
        _ read: (Section, Node) -> Result?
    ) -> [Result] {
        nodes.compactMap { node in
            let section = Section(node, at: node, name: path(of: member), diagnostics).declare(keys)
            defer { section.finish() }
            return read(section, node)
        }
    }

    /// Declares every key of the section, so that the error about an unknown key lists them all, and `finish` reports each
    /// required one that is missing.
    @discardableResult package func declare(_ keys: [KeyDescription]) -> Section {
        for key in keys where !known.contains(key.name) { known.append(key.name) }
        required = keys.filter(\.isRequired).map { ($0.name, $0.summary) }
        return self
    }

    /// Reports that the key `name` is missing, once. Where the file lacks a declared section, or has another value in its place,
    /// the keys in it are not reported.
    package func missing(_ name: String, _ message: String) {
        guard reported.insert(name).inserted, required.isEmpty || !isAbsent, !diagnostics.isRefused(node) else {
            return
        }
        diagnostics.missing(path(name), place, message)
    }

    package func path(_ member: String) -> String { name.isEmpty ? member : "\(name).\(member)" }

    /// Reports an error of the member `name`, with its full name before `message`, at `node` or else at its value.
    package func error(_ name: String, at node: Node? = nil, _ message: String) {
        diagnostics.error(node ?? value(name) ?? self.node, "\(path(name)) \(message)")
    }

    /// Returns the member `name`; nil where it is absent or null.
    package func value(_ name: String) -> Node? {
        if !known.contains(name) { known.append(name) }
        return members.first { $0.name == name }.flatMap { $0.value.null == nil ? $0.value : nil }
    }

    package func key(_ name: String) -> Node? { members.first { $0.name == name }?.key }

    package func section(_ name: String) -> Section {
        Section(value(name), at: key(name), name: path(name), diagnostics)
    }

    package func text(_ name: String) -> (text: String, node: Node)? {
        guard let node = value(name) else { return nil }
        guard let scalar = node.scalar else {
            error(name, at: node, "must be a string")
            return nil
        }
        return (scalar.string, node)
    }

    /// Returns a string that must be present and not empty.
    ///
    /// - Parameter example: a value for the error where it is missing.
    package func requiredText(_ name: String, example: String? = nil) -> (text: String, node: Node)? {
        guard value(name) != nil else {
            missing(name, "\(path(name)) is missing\(example.map { "; write it, as in \(name): \($0)" } ?? "")")
            return nil
        }
        return text(name, orElse: "give it a value")
    }

    /// Returns a string that may be absent and must not be empty.
    package func requiredTextIfPresent(_ name: String) -> (text: String, node: Node)? {
        text(name, orElse: "give it a value or remove it")
    }

    private func text(_ name: String, orElse remedy: String) -> (text: String, node: Node)? {
        guard let found = text(name) else { return nil }
        guard !found.text.isEmpty else {
            error(name, at: found.node, "is empty; \(remedy)")
            return nil
        }
        return found
    }

    package func integer(_ name: String, in range: ClosedRange<Int>) -> Int? {
        guard let (text, node) = text(name) else { return nil }
        guard let integer = Int(text), range.contains(integer) else {
            error(name, at: node, "must be a whole number from \(range.lowerBound) to \(range.upperBound)")
            return nil
        }
        return integer
    }

    package func number(_ name: String, in range: ClosedRange<Double>) -> Double? {
        guard let (text, node) = text(name) else { return nil }
        guard let number = Double(text), range.contains(number) else {
            error(name, at: node, "must be a number from \(range.lowerBound) to \(range.upperBound)")
            return nil
        }
        return number
    }

    /// Returns a share, written as `10%` or as `0.1`.
    package func share(_ name: String, in range: ClosedRange<Double>) -> Double? {
        guard let (text, node) = text(name) else { return nil }
        let share = text.hasSuffix("%") ? Double(text.dropLast()).map { $0 / 100 } : Double(text)
        guard let share, range.contains(share) else {
            error(
                name, at: node,
                "must be a share from \(Share.format(range.lowerBound)) to \(Share.format(range.upperBound)), such as 10%"
            )
            return nil
        }
        return share
    }

    /// Returns a number of bytes, alone or with `kB`, `MB` or `GB` (powers of 1024).
    package func bytes(_ name: String, in range: ClosedRange<Int>) -> Int? {
        guard let (text, node) = text(name) else { return nil }
        guard let number = ByteCount.parse(text), range.contains(number) else {
            error(
                name, at: node,
                "must be from \(ByteCount.format(range.lowerBound)) to \(ByteCount.format(range.upperBound)), such as 32MB"
            )
            return nil
        }
        return number
    }

    package func bool(_ name: String) -> Bool? {
        guard let (text, node) = text(name) else { return nil }
        if text == "true" || text == "false" { return text == "true" }
        error(name, at: node, "must be true or false")
        return nil
    }

    package func duration(_ name: String, in range: ClosedRange<Duration>) -> Duration? {
        guard let (text, node) = text(name) else { return nil }
        guard let duration = DurationText.parseOrZero(text) else {
            let isInSeconds = DurationText.parse(text + "s").map(range.contains) ?? false
            let meant = isInSeconds && !diagnostics.isCompleted(node) ? "; did you mean \(text)s?" : ""
            error(name, at: node, "must be a duration such as 20ms, 10s, 1m, 12h or 30d\(meant)")
            return nil
        }
        guard range.contains(duration) else {
            let (least, most) = (DurationText.format(range.lowerBound), DurationText.format(range.upperBound))
            error(name, at: node, "must be from \(least) to \(most)")
            return nil
        }
        return duration
    }

    package func choice<Choice: RawRepresentable & CaseIterable>(_ name: String, _ type: Choice.Type) -> (
        choice: Choice, node: Node
    )?
    where Choice.RawValue == String {
        guard let (text, node) = text(name) else { return nil }
        guard let choice = Choice(rawValue: text) else {
            refuse(text, node, name, known: Choice.allCases.map(\.rawValue))
            return nil
        }
        return (choice, node)
    }

    package func word(_ name: String, of known: [String]) -> String? {
        guard let (text, node) = text(name) else { return nil }
        guard known.contains(text) else {
            refuse(text, node, name, known: known)
            return nil
        }
        return text
    }

    private func refuse(_ text: String, _ node: Node, _ name: String, known: [String]) {
        let words = known.count > 3 ? "one of \(known.joined(separator: ", "))" : known.joined(separator: " or ")
        error(name, at: node, "must be \(words)\(meant(text, known))")
    }

    /// Refuses every member nobody asked for, and reports the required ones that are missing.
    package func finish() {
        for key in required where value(key.name) == nil {
            missing(key.name, "\(path(key.name)) is missing\(key.summary.isEmpty ? "" : ": \(key.summary)")")
        }
        guard !isOpen else { return }
        // Each of thousands would be compared with every known key.
        let names = Set(known), unknown = members.filter { !names.contains($0.name) }
        if let next = unknown.dropFirst(Self.mostUnknown).first {
            let rest = unknown.count - Self.mostUnknown
            diagnostics.error(next.key, "\(rest) more unknown \(rest == 1 ? "key" : "keys") from here on; remove them")
        }
        for member in unknown.prefix(Self.mostUnknown) {
            guard member.key.scalar != nil, member.name != "<<" else {
                let place = name.isEmpty ? "the file" : name
                diagnostics.error(
                    member.key,
                    member.name == "<<"
                        ? "\(place) has a merge key, which is not read; write out what it stands for"
                        : "a name in \(place) must be a string; known here: \(known.joined(separator: ", "))")
                continue
            }
            refuseUnknown(member.key, member.name)
        }
    }

    /// The number of unknown keys of a section that are reported one by one.
    private static let mostUnknown = 50

    private func refuseUnknown(_ key: Node, _ name: String) {
        if let meant = Spelling.nearest(to: name, among: known), value(meant) == nil {
            diagnostics.misspelled(path(meant))
        }
        let list = known.isEmpty ? "" : "; known here: \(known.joined(separator: ", "))"
        let suggestion = meant(name, known)
        diagnostics.error(key, "unknown key \(path(name))\(suggestion.isEmpty ? list : suggestion)")
    }

    private func meant(_ word: String, _ known: [String]) -> String {
        Spelling.nearest(to: word, among: known).map { "; did you mean \($0)?" } ?? ""
    }
}
