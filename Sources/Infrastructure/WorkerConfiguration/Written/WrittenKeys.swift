import YAMLReading
import Yams

/// The file's values of the keys that need a restart, and of the keys that concern all apps. They are enough to detect
/// which keys another reading changes. Apps and key rings compare their other keys as a whole.
///
/// Values are kept as fingerprints, for some are passwords.
struct WrittenKeys: Sendable, CustomReflectable {
    /// A key that has another value than its default, or a section that there need not be.
    struct Entry: Sendable {
        /// The key's full name, such as `worker.retries.tiers`.
        let name: String
        let value: Fingerprint
        let change: KeyChange
    }

    /// A key whose value differs between two files.
    struct Change: Sendable, Equatable {
        let name: String
        let change: KeyChange
    }

    /// The entries in the order of the documentation; entries with the user's own names in the order of the file.
    private(set) var entries: [Entry] = []

    init() {}

    /// The keys of `sections` in the tree `root` of a file, completed from the environment.
    init(_ root: Node, of sections: [SectionDescription]) {
        for section in sections {
            section.name.isEmpty
                ? add(section.keys, of: root, "") : add(section, root.mapping?[section.name], section.name)
        }
    }

    /// An empty mirror, which shows none of the values.
    var customMirror: Mirror { Mirror(self, children: []) }

    /// Returns the full name of the last member of `path`, which leads to it through the sections around it.
    static func name(of path: any DeclaredMember...) -> String { path.map(\.name).joined(separator: ".") }

    /// Returns the keys whose values differ from those of `other`, or that are in one of them alone, in order.
    func changes(to other: WrittenKeys) -> [Change] {
        let theirs = Dictionary(other.entries.map { ($0.name, $0.value) }) { first, _ in first }
        let ours = Set(entries.map(\.name))
        let changed = entries.filter { theirs[$0.name] != $0.value } + other.entries.filter { !ours.contains($0.name) }
        return changed.map { Change(name: $0.name, change: $0.change) }
    }

    private mutating func add(_ section: SectionDescription, _ node: Node?, _ path: String) {
        let isThere = node.map { $0.null == nil } ?? false
        // The mere presence of such a section makes a difference.
        if section.absence == .nothing, isThere {
            entries.append(Entry(name: path, value: Fingerprint(), change: section.change))
        }
        if let each = section.each {
            for (name, member) in node?.mapping ?? [:] { addMembers(of: each, member, "\(path).\(name.string ?? "")") }
        } else {
            addMembers(of: section, node, path)
        }
    }

    private mutating func addMembers(of section: SectionDescription, _ node: Node?, _ path: String) {
        let isNamed = section.name == "*"
        add(isNamed ? section.keys.filter(Self.isNoted) : section.keys, of: node, "\(path).")
        // The keys of an app or a ring count as one entry, except those that need a restart.
        let inner = section.sections.filter { !isNamed || $0.keys.contains(where: Self.isNoted) }
        for section in inner { add(section, node?.mapping?[section.name], "\(path).\(section.name)") }
    }

    /// Returns whether a change of `key` is recorded by itself, and not as a change of its app or ring.
    private static func isNoted(_ key: KeyDescription) -> Bool {
        [.needsRestart, .reloadsInGateway].contains(key.change)
    }

    private mutating func add(_ keys: [KeyDescription], of node: Node?, _ prefix: String) {
        for key in keys {
            guard let value = node?.mapping?[key.name], value.null == nil else { continue }
            let text = FlowText.text(of: value)
            guard text != key.standard else { continue }
            entries.append(Entry(name: prefix + key.name, value: Fingerprint(of: text), change: key.change))
        }
    }
}

/// Values of YAML on one line, as they can be read again.
enum FlowText {
    static func text(of node: Node) -> String {
        switch node {
        case .scalar(let scalar): Self.scalar(scalar.string)
        case .sequence(let sequence): "[\(sequence.map(text).joined(separator: ", "))]"
        case .mapping(let mapping) where mapping.isEmpty: "{}"
        case .mapping(let mapping):
            "{ \(mapping.map { "\(text(of: $0.key)): \(text(of: $0.value))" }.joined(separator: ", ")) }"
        case .alias: "null"
        }
    }

    /// Returns `text`, in quotes where it would mean something else without.
    static func scalar(_ text: String) -> String { isPlain(text) ? text : quoted(text) }

    /// Returns whether `text` needs no quotes as a value. A number or a word such as true needs none: the reader knows
    /// the key's type.
    private static func isPlain(_ text: String) -> Bool {
        let isSafe = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: "_./:@%+-()=;".utf8.contains(byte)
            }
        }
        guard isSafe, let first = text.utf8.first, let last = text.utf8.last else { return false }
        return !"-:%@=;".utf8.contains(first) && last != UInt8(ascii: ":") && !["null", "Null", "NULL"].contains(text)
    }

    /// Returns `text` in double quotes, which can hold any text (YAML 1.2, section 5.7).
    private static func quoted(_ text: String) -> String {
        var output = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": output += "\\\(scalar)"
            case "\n": output += "\\n"
            case "\t": output += "\\t"
            case _
            where scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value) || scalar.value > 0xFFFF
                || [0x2028, 0x2029, 0xFEFF].contains(scalar.value):
                let digits = String(scalar.value, radix: 16, uppercase: true)
                output += "\\U" + String(repeating: "0", count: 8 - digits.count) + digits
            default: output.unicodeScalars.append(scalar)
            }
        }
        return output + "\""
    }
}
