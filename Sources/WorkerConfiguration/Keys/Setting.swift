import Yams

/// A key whose value goes straight into a member of `Root`: how it is read, and its default, which is the member's own.
struct Setting<Root>: Sendable {
    /// What is said of it.
    let description: KeyDescription
    /// A member of the section that the key is read into.
    typealias Member<Value> = any WritableKeyPath<Root, Value> & Sendable

    /// Reads the key out of its section into the member, where it is there and right.
    let read: @Sendable (Section, inout Root) -> Void
}

extension Setting where Root: WithDefaults {
    static func duration(
        _ name: String, _ member: Member<Duration>, in range: ClosedRange<Duration>,
        isReloadable: Bool = false, _ summary: String
    ) -> Setting {
        Setting(
            description: KeyDescription(
                name, .duration(range), standard: DurationText.format(Root()[keyPath: member]),
                isReloadable: isReloadable, summary)
        ) { section, root in
            if let value = section.duration(name, in: range) { root[keyPath: member] = value }
        }
    }

    static func bytes(
        _ name: String, _ member: Member<Int>, in range: ClosedRange<Int>, _ summary: String
    ) -> Setting {
        Setting(
            description: KeyDescription(
                name, .bytes(range), standard: ByteCount.format(Root()[keyPath: member]), summary)
        ) { section, root in
            if let value = section.bytes(name, in: range) { root[keyPath: member] = value }
        }
    }

    static func integer(
        _ name: String, _ member: Member<Int>, in range: ClosedRange<Int>,
        isReloadable: Bool = false, _ summary: String
    ) -> Setting {
        Setting(
            description: KeyDescription(
                name, .integer(range), standard: "\(Root()[keyPath: member])", isReloadable: isReloadable, summary)
        ) { section, root in
            if let value = section.integer(name, in: range) { root[keyPath: member] = value }
        }
    }

    static func number(
        _ name: String, _ member: Member<Double>, in range: ClosedRange<Double>,
        _ summary: String
    ) -> Setting {
        Setting(
            description: KeyDescription(name, .number(range), standard: "\(Root()[keyPath: member])", summary)
        ) { section, root in
            if let value = section.number(name, in: range) { root[keyPath: member] = value }
        }
    }

    static func share(
        _ name: String, _ member: Member<Double>, in range: ClosedRange<Double>,
        _ summary: String
    ) -> Setting {
        Setting(
            description: KeyDescription(
                name, .share(range), standard: Share.format(Root()[keyPath: member]), summary)
        ) { section, root in
            if let value = section.share(name, in: range) { root[keyPath: member] = value }
        }
    }

    static func bool(
        _ name: String, _ member: Member<Bool>, _ summary: String
    ) -> Setting {
        Setting(
            description: KeyDescription(name, .bool, standard: "\(Root()[keyPath: member])", summary)
        ) { section, root in
            if let value = section.bool(name) { root[keyPath: member] = value }
        }
    }

    static func choice<Choice: RawRepresentable & CaseIterable & Sendable>(
        _ name: String, _ member: Member<Choice>, isReloadable: Bool = false, _ summary: String
    ) -> Setting where Choice.RawValue == String {
        Setting(
            description: KeyDescription(
                name, .choice(Choice.allCases.map(\.rawValue)), standard: Root()[keyPath: member].rawValue,
                isReloadable: isReloadable, summary)
        ) { section, root in
            if let value = section.choice(name, Choice.self)?.choice { root[keyPath: member] = value }
        }
    }

    /// A text that must not be empty.
    static func text(
        _ name: String, _ member: Member<String>, form: ValueForm = .text, _ summary: String
    ) -> Setting {
        Setting(
            description: KeyDescription(name, form, standard: Root()[keyPath: member], summary)
        ) { section, root in
            if let value = section.requiredTextIfPresent(name)?.text { root[keyPath: member] = value }
        }
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
