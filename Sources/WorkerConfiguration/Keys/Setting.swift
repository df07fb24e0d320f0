import Yams

/// A key whose value goes straight into a member of `Root`: how it is read, and its default, which is the member's own.
struct Setting<Root>: Sendable {
    /// A member of the section that the key is read into.
    typealias Member<Value> = any WritableKeyPath<Root, Value> & Sendable

    /// The description of the key.
    let description: KeyDescription
    /// Reads the key out of its section into the member, where it is there and right.
    let read: @Sendable (Section, inout Root) -> Void
    /// Copies the first value's member to the second.
    let keep: @Sendable (Root, inout Root) -> Void

    private init<Value>(
        _ description: KeyDescription, _ member: Member<Value>, _ value: @escaping @Sendable (Section) -> Value?
    ) {
        self.description = description
        read = { section, root in
            if let value = value(section) { root[keyPath: member] = value }
        }
        keep = { old, new in new[keyPath: member] = old[keyPath: member] }
    }
}

extension Setting where Root: WithDefaults {
    static func duration(
        _ name: String, _ member: Member<Duration>, in range: ClosedRange<Duration>,
        change: KeyChange = .needsRestart, _ summary: String
    ) -> Setting {
        Setting(
            KeyDescription(
                name, .duration(range), standard: DurationText.format(Root()[keyPath: member]), change: change, summary),
            member
        ) { $0.duration(name, in: range) }
    }

    static func bytes(
        _ name: String, _ member: Member<Int>, in range: ClosedRange<Int>, change: KeyChange = .needsRestart,
        _ summary: String
    ) -> Setting {
        Setting(
            KeyDescription(
                name, .bytes(range), standard: ByteCount.format(Root()[keyPath: member]), change: change, summary),
            member
        ) { $0.bytes(name, in: range) }
    }

    static func integer(
        _ name: String, _ member: Member<Int>, in range: ClosedRange<Int>, change: KeyChange = .needsRestart,
        _ summary: String
    ) -> Setting {
        Setting(
            KeyDescription(
                name, .integer(range), standard: "\(Root()[keyPath: member])", change: change, summary), member
        ) { $0.integer(name, in: range) }
    }

    static func number(
        _ name: String, _ member: Member<Double>, in range: ClosedRange<Double>, change: KeyChange = .needsRestart,
        _ summary: String
    ) -> Setting {
        Setting(
            KeyDescription(name, .number(range), standard: "\(Root()[keyPath: member])", change: change, summary),
            member
        ) { $0.number(name, in: range) }
    }

    static func share(
        _ name: String, _ member: Member<Double>, in range: ClosedRange<Double>, change: KeyChange = .needsRestart,
        _ summary: String
    ) -> Setting {
        Setting(
            KeyDescription(
                name, .share(range), standard: Share.format(Root()[keyPath: member]), change: change, summary), member
        ) { $0.share(name, in: range) }
    }

    static func bool(
        _ name: String, _ member: Member<Bool>, change: KeyChange = .needsRestart, _ summary: String
    ) -> Setting {
        Setting(
            KeyDescription(name, .bool, standard: "\(Root()[keyPath: member])", change: change, summary), member
        ) { $0.bool(name) }
    }

    static func choice<Choice: RawRepresentable & CaseIterable & Sendable>(
        _ name: String, _ member: Member<Choice>, change: KeyChange = .needsRestart, _ summary: String
    ) -> Setting where Choice.RawValue == String {
        Setting(
            KeyDescription(
                name, .choice(Choice.allCases.map(\.rawValue)), standard: Root()[keyPath: member].rawValue,
                change: change, summary), member
        ) { $0.choice(name, Choice.self)?.choice }
    }

    /// A text that must not be empty.
    static func text(
        _ name: String, _ member: Member<String>, form: ValueForm = .text, change: KeyChange = .needsRestart,
        _ summary: String
    ) -> Setting {
        Setting(
            KeyDescription(name, form, standard: Root()[keyPath: member], change: change, summary), member
        ) { $0.requiredTextIfPresent(name)?.text }
    }
}

extension Sequence {
    /// Copies from `old` to `new` the members that a running worker does not change.
    func keep<Root>(_ old: Root, in new: inout Root) where Element == Setting<Root> {
        for setting in self where setting.description.change == .needsRestart { setting.keep(old, &new) }
    }
}

/// A part of the configuration that is complete without a word in the file.
protocol WithDefaults: SendableMetatype { init() }

extension Section {
    /// The text of `key`, which must be there and not empty.
    func requiredText(_ key: KeyDescription) -> (text: String, node: Node)? {
        requiredText(key.name, example: key.example)
    }

    /// Reads `settings` into `root`.
    func read<Root>(_ settings: [Setting<Root>], into root: inout Root) {
        for setting in settings { setting.read(self, &root) }
    }
}
