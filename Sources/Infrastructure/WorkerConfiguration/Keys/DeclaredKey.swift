import AdapterKit
import DeclaredAdapters
import Formats
package import YAMLReading
package import Yams

/// A key of the configuration, declared once: its description, and the way its value is read. A reader has no other way
/// to name a key.
package struct DeclaredKey<Value>: DeclaredMember, Sendable {
    package let description: KeyDescription
    fileprivate let reading: @Sendable (_ section: Section, _ name: String) -> Value?

    /// A key whose value `reading` returns; nil where the key is absent, and where it is wrong, after reporting an
    /// error.
    init(_ description: KeyDescription, _ reading: @escaping @Sendable (_ section: Section, _ name: String) -> Value?) {
        self.description = description
        self.reading = reading
    }

    package var name: String { description.name }

    /// The same key, which a worker ignores.
    var passedOver: DeclaredKey { DeclaredKey(description.passedOver, reading) }
}

extension Section {
    /// Returns the value of `key`; nil where it is absent, and where it is wrong, after reporting an error.
    package func read<Value>(_ key: DeclaredKey<Value>) -> Value? { key.reading(self, key.name) }

    /// Returns the value of `key` with its place in the file.
    package func placed<Value>(_ key: DeclaredKey<Value>) -> (value: Value, node: Node)? {
        guard let value = read(key), let node = self.value(of: key) else { return nil }
        return (value, node)
    }
}

// MARK: Single values

extension DeclaredKey where Value == Duration {
    static func duration(
        _ name: String, in range: ClosedRange<Duration>, standard: Duration? = nil, example: String? = nil,
        change: KeyChange = .needsRestart, _ summary: String
    ) -> DeclaredKey {
        DeclaredKey(
            KeyDescription(
                name, .duration(range), standard: standard.map(DurationText.format), example: example, change: change,
                summary)
        ) { $0.duration($1, in: range) }
    }
}

extension DeclaredKey where Value == Int {
    static func bytes(
        _ name: String, in range: ClosedRange<Int>, standard: Int, change: KeyChange = .needsRestart, _ summary: String
    ) -> DeclaredKey {
        DeclaredKey(
            KeyDescription(name, .bytes(range), standard: ByteCount.format(standard), change: change, summary)
        ) { $0.bytes($1, in: range) }
    }

    static func integer(
        _ name: String, in range: ClosedRange<Int>, standard: Int? = nil, example: String? = nil,
        change: KeyChange = .needsRestart, _ summary: String
    ) -> DeclaredKey {
        DeclaredKey(
            KeyDescription(
                name, .integer(range), standard: standard.map { "\($0)" }, example: example, change: change, summary)
        ) { $0.integer($1, in: range) }
    }
}

extension DeclaredKey where Value == Double {
    static func number(
        _ name: String, in range: ClosedRange<Double>, standard: Double, change: KeyChange = .needsRestart,
        _ summary: String
    ) -> DeclaredKey {
        DeclaredKey(KeyDescription(name, .number(range), standard: "\(standard)", change: change, summary)) {
            $0.number($1, in: range)
        }
    }

    static func share(
        _ name: String, in range: ClosedRange<Double>, standard: Double, change: KeyChange = .needsRestart,
        _ summary: String
    ) -> DeclaredKey {
        DeclaredKey(
            KeyDescription(name, .share(range), standard: Share.format(standard), change: change, summary)
        ) { $0.share($1, in: range) }
    }
}

extension DeclaredKey where Value == Bool {
    static func bool(
        _ name: String, standard: Bool, change: KeyChange = .needsRestart, _ summary: String
    ) -> DeclaredKey {
        DeclaredKey(KeyDescription(name, .bool, standard: "\(standard)", change: change, summary)) { $0.bool($1) }
    }
}

extension DeclaredKey where Value: RawRepresentable<String> & CaseIterable & Sendable {
    /// Returns a key with one of the words of `Value`.
    static func choice(
        _ name: String, standard: Value? = nil, example: String? = nil, isRequired: Bool = false,
        change: KeyChange = .needsRestart, _ summary: String
    ) -> DeclaredKey {
        DeclaredKey(
            KeyDescription(
                name, .choice(Value.allCases.map(\.rawValue)), standard: standard?.rawValue, example: example,
                isRequired: isRequired, change: change, summary)
        ) { section, name in
            if isRequired, section.requiredText(name, example: example) == nil { return nil }
            return section.choice(name, Value.self)?.choice
        }
    }
}

extension DeclaredKey where Value == String {
    /// Returns a key with a string that must not be empty.
    static func text(
        _ name: String, form: ValueForm = .text, standard: String? = nil, example: String? = nil,
        isRequired: Bool = false, isSecret: Bool = false, change: KeyChange = .needsRestart, _ summary: String
    ) -> DeclaredKey {
        DeclaredKey(
            KeyDescription(
                name, form, standard: standard, example: example, isRequired: isRequired, isSecret: isSecret,
                change: change, summary)
        ) { section, name in
            (isRequired ? section.requiredText(name, example: example) : section.requiredTextIfPresent(name))?.text
        }
    }

    /// Returns a key with a string that may be empty: whatever uses it requires more of it.
    static func anyText(
        _ name: String, form: ValueForm = .text, example: String, isSecret: Bool = false,
        change: KeyChange = .needsRestart, _ summary: String
    ) -> DeclaredKey {
        DeclaredKey(KeyDescription(name, form, example: example, isSecret: isSecret, change: change, summary)) {
            $0.text($1)?.text
        }
    }

    /// Returns a key with a word of `words`.
    static func word(
        _ name: String, of words: [String], standard: String? = nil, example: String? = nil,
        change: KeyChange = .needsRestart, _ summary: String
    ) -> DeclaredKey {
        DeclaredKey(
            KeyDescription(
                name, .choice(words), standard: standard, example: example, change: change, summary)
        ) { $0.word($1, of: words) }
    }
}

// MARK: Addresses

extension DeclaredKey where Value == EndpointURL {
    static func endpoint(
        _ name: String, example: String, isRequired: Bool = false, change: KeyChange = .needsRestart, _ summary: String
    ) -> DeclaredKey {
        DeclaredKey(
            KeyDescription(name, .url, example: example, isRequired: isRequired, change: change, summary)
        ) { section, name in
            let text = isRequired ? section.requiredText(name, example: example) : section.requiredTextIfPresent(name)
            return text.flatMap { section.endpoint($0.text, $0.node, name) }
        }
    }

    /// Returns a key with a URL that may be empty: whatever uses it requires more of it.
    static func anyEndpoint(
        _ name: String, example: String, change: KeyChange = .needsRestart, _ summary: String
    ) -> DeclaredKey {
        DeclaredKey(KeyDescription(name, .url, example: example, change: change, summary)) { section, name in
            guard let (text, node) = section.text(name), !text.isEmpty else { return nil }
            return section.endpoint(text, node, name)
        }
    }
}

extension Section {
    fileprivate func endpoint(_ text: String, _ node: Node, _ name: String) -> EndpointURL? {
        do throws(EndpointURL.Problem) { return try EndpointURL(parsing: text) } catch {
            diagnostics.error(node, "\(path(name)) \(error.message)")
            return nil
        }
    }
}

extension DeclaredKey where Value == HostAndPort {
    static func address(
        _ name: String, standard: String? = nil, example: String? = nil, isRequired: Bool = false, _ summary: String
    ) -> DeclaredKey {
        DeclaredKey(
            KeyDescription(name, .address, standard: standard, example: example, isRequired: isRequired, summary)
        ) { section, name in
            let found =
                isRequired ? section.requiredText(name, example: example) : section.requiredTextIfPresent(name)
            guard let (text, node) = found else { return nil }
            guard let address = HostAndPort(text) else {
                section.diagnostics.error(
                    node, "\(section.path(name)) must be host:port, such as \(standard ?? example ?? "127.0.0.1:8080")")
                return nil
            }
            return address
        }
    }
}

// MARK: Lists and mappings

extension DeclaredKey where Value == [String] {
    /// Returns a key with a list of texts.
    ///
    /// - Parameter demand: the demand that an error repeats.
    static func texts(
        _ name: String, of form: ValueForm = .text, standard: String? = nil, example: String? = nil,
        change: KeyChange = .needsRestart, orElse demand: String = "a list of texts, as in [a, b]", _ summary: String
    ) -> DeclaredKey {
        DeclaredKey(
            KeyDescription(name, .list(of: form), standard: standard, example: example, change: change, summary)
        ) { section, name in
            guard let node = section.value(name) else { return nil }
            let texts = node.sequence?.compactMap { $0.scalar?.string } ?? []
            guard !texts.isEmpty, texts.count == node.sequence?.count else {
                section.diagnostics.error(node, "\(section.path(name)) must be \(demand)")
                return nil
            }
            return texts
        }
    }
}

extension DeclaredKey where Value == Section {
    /// Returns a key with a mapping whose names are not the configuration's own.
    static func mapping(
        _ name: String, _ form: ValueForm, example: String, isSecret: Bool = false, change: KeyChange = .needsRestart,
        _ summary: String
    ) -> DeclaredKey {
        DeclaredKey(KeyDescription(name, form, example: example, isSecret: isSecret, change: change, summary)) {
            $0.value($1) == nil ? nil : $0.section($1)
        }
    }
}

// MARK: Values of tests

extension DeclaredKey where Value == [UInt8] {
    /// Returns a key with any value, which is read as JSON.
    static func json(_ name: String, example: String, _ summary: String) -> DeclaredKey {
        DeclaredKey(KeyDescription(name, .json, example: example, summary)) { $0.json($1) }
    }
}

extension DeclaredKey where Value == UnixTime {
    /// Returns a key with a date-time, or seconds since 1970.
    static func time(_ name: String, example: String, _ summary: String) -> DeclaredKey {
        DeclaredKey(KeyDescription(name, .text, example: example, summary)) { $0.time($1) }
    }
}
