import YAMLReading
import Yams

/// A key whose value goes straight into a member of `Root`. Its default is the member's own.
struct Setting<Root>: DeclaredKey {
    typealias Member<Value> = any WritableKeyPath<Root, Value> & Sendable

    let description: KeyDescription
    /// Reads the key out of its section into the member, where it is there and right.
    let read: @Sendable (Section, inout Root) -> Void
    /// Copies the first value's member to the second.
    let keep: @Sendable (Root, inout Root) -> Void

    var name: String { description.name }

    init<Value>(_ key: FileKey<Value>, _ member: Member<Value>) {
        description = key.description
        read = { section, root in
            if let value = section.read(key) { root[keyPath: member] = value }
        }
        keep = { old, new in new[keyPath: member] = old[keyPath: member] }
    }

    /// The declared key `key` with its member, which is nil where the file leaves the key out.
    init<Value>(_ key: FileKey<Value>, ifPresent member: Member<Value?>) {
        description = key.description
        read = { section, root in
            if let value = section.read(key) { root[keyPath: member] = value }
        }
        keep = { old, new in new[keyPath: member] = old[keyPath: member] }
    }
}

extension Setting where Root: WithDefaults {
    static func duration(
        _ name: String, _ member: Member<Duration>, in range: ClosedRange<Duration>,
        change: KeyChange = .needsRestart, _ summary: String
    ) -> Setting {
        Setting(.duration(name, in: range, standard: Root()[keyPath: member], change: change, summary), member)
    }

    static func bytes(
        _ name: String, _ member: Member<Int>, in range: ClosedRange<Int>, change: KeyChange = .needsRestart,
        _ summary: String
    ) -> Setting {
        Setting(.bytes(name, in: range, standard: Root()[keyPath: member], change: change, summary), member)
    }

    static func integer(
        _ name: String, _ member: Member<Int>, in range: ClosedRange<Int>, change: KeyChange = .needsRestart,
        _ summary: String
    ) -> Setting {
        Setting(.integer(name, in: range, standard: Root()[keyPath: member], change: change, summary), member)
    }

    static func number(
        _ name: String, _ member: Member<Double>, in range: ClosedRange<Double>, change: KeyChange = .needsRestart,
        _ summary: String
    ) -> Setting {
        Setting(.number(name, in: range, standard: Root()[keyPath: member], change: change, summary), member)
    }

    static func share(
        _ name: String, _ member: Member<Double>, in range: ClosedRange<Double>, change: KeyChange = .needsRestart,
        _ summary: String
    ) -> Setting {
        Setting(.share(name, in: range, standard: Root()[keyPath: member], change: change, summary), member)
    }

    static func bool(
        _ name: String, _ member: Member<Bool>, change: KeyChange = .needsRestart, _ summary: String
    ) -> Setting {
        Setting(.bool(name, standard: Root()[keyPath: member], change: change, summary), member)
    }

    static func choice<Choice: RawRepresentable<String> & CaseIterable & Sendable>(
        _ name: String, _ member: Member<Choice>, change: KeyChange = .needsRestart, _ summary: String
    ) -> Setting {
        Setting(FileKey.choice(name, standard: Root()[keyPath: member], change: change, summary), member)
    }

    /// Returns a setting with a string that must not be empty.
    static func text(
        _ name: String, _ member: Member<String>, form: FileForm = .text(), change: KeyChange = .needsRestart,
        _ summary: String
    ) -> Setting {
        Setting(.text(name, form: form, standard: Root()[keyPath: member], change: change, summary), member)
    }

    static func word(
        _ name: String, _ member: Member<String>, of words: [String], change: KeyChange = .needsRestart,
        _ summary: String
    ) -> Setting {
        Setting(.word(name, of: words, standard: Root()[keyPath: member], change: change, summary), member)
    }
}

extension Setting {
    /// Returns a setting with a string that may be left out and must not be empty.
    static func text(
        _ name: String, ifPresent member: Member<String?>, form: FileForm = .text(), example: String,
        change: KeyChange = .needsRestart, _ summary: String
    ) -> Setting {
        Setting(.text(name, form: form, example: example, change: change, summary), ifPresent: member)
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
    func read<Root>(_ settings: [Setting<Root>], into root: inout Root) {
        for setting in settings { setting.read(self, &root) }
    }
}

/// A section whose keys all go straight into members of `Self`.
protocol DeclaredSection: WithDefaults {
    static var section: SectionDescription { get }
    static var settings: [Setting<Self>] { get }
}

extension Section {
    func readSection<Root: DeclaredSection>(into root: inout Root) {
        let section = section(Root.section)
        section.read(Root.settings, into: &root)
        section.finish()
    }
}
