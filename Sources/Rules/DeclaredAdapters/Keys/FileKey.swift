import AdapterKit
import YAMLReading
import Yams

/// The description of a key of a vendor's file, for the schema.
struct FileKeyDescription: DeclaredMember {
    /// The key's name within its section.
    let name: String
    /// The form of its value.
    let form: FileForm
    /// Whether its section is incomplete without it.
    let isRequired: Bool
    /// The key's meaning; empty if its name explains it.
    let summary: String

    /// The same key, which its section requires.
    var required: FileKeyDescription {
        FileKeyDescription(name: name, form: form, isRequired: true, summary: summary)
    }
}

/// A key of a vendor's file, declared once: its description, and the way its value is read. A reader has no other way to
/// name a key.
struct FileKey<Value>: DeclaredMember {
    let description: FileKeyDescription
    fileprivate let reading: @Sendable (_ section: Section, _ name: String) -> Value?

    var name: String { description.name }

    /// A key whose value `reading` returns; nil where the key is absent, and where it is wrong, after reporting an error.
    init(
        _ name: String, _ form: FileForm, isRequired: Bool = false, _ summary: String = "",
        _ reading: @escaping @Sendable (_ section: Section, _ name: String) -> Value?
    ) {
        description = FileKeyDescription(name: name, form: form, isRequired: isRequired, summary: summary)
        self.reading = reading
    }
}

extension FileForm {
    /// The keys of a section of this form; nil for any other form.
    fileprivate var keys: [FileKeyDescription]? {
        switch self {
        case .section(let keys): keys
        case .shared(_, let form, _): form.keys
        default: nil
        }
    }
}

extension [FileKeyDescription] {
    /// The keys as a section declares them.
    fileprivate var declared: [(name: String, isRequired: Bool, summary: String)] {
        map { ($0.name, $0.isRequired, $0.summary) }
    }
}

extension FileKey {
    var sectionKeys: [(name: String, isRequired: Bool, summary: String)]? { description.form.keys?.declared }
}

extension Section {
    /// Declares the keys of a section in a list. Their absence is an error.
    @discardableResult func declare(_ keys: [FileKeyDescription]) -> Section {
        declare(keys.declared)
        return self
    }

    /// Returns the value of `key`; nil where it is absent, and where it is wrong, after reporting an error.
    func read<Value>(_ key: FileKey<Value>) -> Value? { key.reading(self, key.name) }

    /// Returns the value of `key` with its place in the file.
    func placed<Value>(_ key: FileKey<Value>) -> (value: Value, node: Node)? {
        guard let value = read(key), let node = self.value(of: key) else { return nil }
        return (value, node)
    }
}

// MARK: Values

extension FileKey where Value == String {
    /// Returns a key with a string. A required one must not be empty.
    static func text(
        _ name: String, _ form: FileForm = .text(), isRequired: Bool = false, _ summary: String = ""
    ) -> FileKey {
        FileKey(name, form, isRequired: isRequired, summary) { section, name in
            (isRequired ? section.requiredText(name) : section.text(name))?.text
        }
    }

    /// Returns a key with a string that may be left out and must not be empty.
    static func textIfPresent(_ name: String, _ form: FileForm = .text(), _ summary: String = "") -> FileKey {
        FileKey(name, form, summary) { $0.requiredTextIfPresent($1)?.text }
    }
}

extension FileKey where Value == Bool {
    static func bool(_ name: String, _ summary: String = "") -> FileKey {
        FileKey(name, .bool, summary) { $0.bool($1) }
    }
}

extension FileKey where Value == Int {
    static func integer(_ name: String, in range: ClosedRange<Int>, _ summary: String = "") -> FileKey {
        FileKey(name, .integer(range), summary) { $0.integer($1, in: range) }
    }
}

extension FileKey where Value == Int64 {
    /// Returns a key with a duration, whose value is its seconds.
    static func seconds(
        _ name: String, in range: ClosedRange<Duration>, isRequired: Bool = false, _ summary: String = ""
    ) -> FileKey {
        FileKey(name, .duration, isRequired: isRequired, summary) { $0.duration($1, in: range)?.components.seconds }
    }
}

extension FileKey where Value: RawRepresentable<String> & CaseIterable & Sendable {
    /// Returns a key with one of the words of `Value`.
    static func choice(_ name: String, isRequired: Bool = false, _ summary: String = "") -> FileKey {
        FileKey(name, .words(Value.allCases.map(\.rawValue)), isRequired: isRequired, summary) {
            $0.choice($1, Value.self)?.choice
        }
    }
}

extension FileKey where Value: Sendable {
    /// Returns a required key with one of `words`.
    static func word(_ name: String, _ words: [String: Value], _ summary: String = "") -> FileKey {
        let known = words.keys.sorted()
        return FileKey(name, .words(known), isRequired: true, summary) { section, name in
            guard let (text, node) = section.requiredText(name) else { return nil }
            if let value = words[text] { return value }
            section.diagnostics.error(node, "\(section.path(name)) must be one of \(known.joined(separator: ", "))")
            return nil
        }
    }
}

extension FileKey where Value == [String] {
    /// Returns a key with a list of texts, or a single one.
    static func texts(_ name: String, isRequired: Bool = false, _ summary: String = "") -> FileKey {
        FileKey(name, .texts, isRequired: isRequired, summary) { $0.texts($1) }
    }
}

extension FileKey where Value == UnixTime {
    /// Returns a key with a date-time, or seconds since 1970.
    static func time(_ name: String, _ summary: String = "") -> FileKey {
        FileKey(name, .moment, summary) { $0.time($1) }
    }
}

extension FileKey where Value == [UInt8] {
    /// Returns a key whose value is read as JSON.
    static func json(
        _ name: String, _ form: FileForm = .any, isRequired: Bool = false, _ summary: String = ""
    ) -> FileKey {
        FileKey(name, form, isRequired: isRequired, summary) { $0.json($1) }
    }
}

extension FileKey where Value == Node {
    /// Returns a key whose value its reader takes apart.
    static func node(
        _ name: String, _ form: FileForm, isRequired: Bool = false, _ summary: String = ""
    ) -> FileKey {
        FileKey(name, form, isRequired: isRequired, summary) { $0.value($1) }
    }
}

extension FileKey where Value == Section {
    /// Returns a key with a section of declared keys.
    static func section(
        _ name: String, _ keys: [FileKeyDescription], isRequired: Bool = false, _ summary: String = ""
    ) -> FileKey {
        FileKey(name, .section(keys), isRequired: isRequired, summary) {
            $0.value($1) == nil ? nil : $0.section($1).declare(keys)
        }
    }

    /// Returns a key with a mapping whose names are the author's.
    static func mapping(
        _ name: String, of form: FileForm, isRequired: Bool = false, _ summary: String = ""
    ) -> FileKey {
        FileKey(name, .mapping(of: form), isRequired: isRequired, summary) {
            $0.value($1) == nil ? nil : $0.section($1)
        }
    }
}
