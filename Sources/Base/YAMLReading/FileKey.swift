package import Formats
package import Yams

/// A member of a file that is declared once, under its name. A reader names a member by its declaration, never by a
/// string of its own.
package protocol DeclaredMember: Sendable {
    var name: String { get }
    /// The keys of the section that the member is; nil where it is no section, or where its reader names the keys one by
    /// one.
    var keysOfSection: [KeyDescription]? { get }
}

extension DeclaredMember {
    package var keysOfSection: [KeyDescription]? { nil }
}

/// The moment from which a changed value of a key is in effect in a running worker.
package enum KeyChange: String, Sendable, CaseIterable {
    /// A change applies from the next batch on: the worker reads the file again, and no event waits for it.
    case reloads
    /// A change applies from the next start on. This is the default of a key.
    case needsRestart = "needs_restart"
    /// A change applies to a gateway from the next call on, when it reads the file again. A worker ignores it.
    case reloadsInGateway = "reloads_in_gateway"
    /// A change never applies to a worker, which ignores the key.
    case passedOver = "passed_over"
}

/// The description of a key of a file. The reader, the messages, the samples and the schema all use it.
package struct KeyDescription: DeclaredMember, Equatable {
    package let name: String
    package let form: FileForm
    /// The key's default, as the file would write it; nil if it has none.
    package let standard: String?
    /// The key's meaning, in sentences; empty if its name explains it.
    package let summary: String
    /// The value that a sample shows for a key without a default.
    package let example: String?
    /// Whether its section is incomplete without it.
    package private(set) var isRequired: Bool
    /// Whether its value must not be shown.
    package let isSecret: Bool
    package private(set) var change: KeyChange

    package var required: KeyDescription { changed { $0.isRequired = true } }

    /// Returns the same key, whose changes apply as `change` states.
    package func changing(_ change: KeyChange) -> KeyDescription { changed { $0.change = change } }

    private func changed(_ change: (inout KeyDescription) -> Void) -> KeyDescription {
        var key = self
        change(&key)
        return key
    }
}

/// A key with its description, whatever its value is.
package protocol DeclaredKey: DeclaredMember {
    var description: KeyDescription { get }
}

extension [KeyDescription] {
    package static func of(_ keys: any DeclaredKey...) -> [KeyDescription] { keys.map(\.description) }
}

/// A key of a file, declared once: its description, and the way its value is read. A reader has no other way to name a
/// key.
package struct FileKey<Value>: DeclaredKey {
    package let description: KeyDescription
    fileprivate let reading: @Sendable (_ section: Section, _ name: String) -> Value?

    /// A key whose value `reading` returns; nil where the key is absent, and where it is wrong, after reporting an
    /// error.
    package init(
        _ name: String, _ form: FileForm, standard: String? = nil, example: String? = nil, isRequired: Bool = false,
        isSecret: Bool = false, change: KeyChange = .needsRestart, _ summary: String = "",
        _ reading: @escaping @Sendable (_ section: Section, _ name: String) -> Value?
    ) {
        description = KeyDescription(
            name: name, form: form, standard: standard, summary: summary, example: example, isRequired: isRequired,
            isSecret: isSecret, change: change)
        self.reading = reading
    }

    package var name: String { description.name }
    package var keysOfSection: [KeyDescription]? { description.form.keys }
}

extension Section {
    /// Returns the value of `key`; nil where it is absent, and where it is wrong, after reporting an error.
    package func read<Value>(_ key: FileKey<Value>) -> Value? { key.reading(self, key.name) }

    package func placed<Value>(_ key: FileKey<Value>) -> (value: Value, node: Node)? {
        guard let value = read(key), let node = self.value(of: key) else { return nil }
        return (value, node)
    }

    /// Returns the value of `member`; nil where it is absent or null.
    package func value(of member: any DeclaredMember) -> Node? { value(member.name) }

    package func key(of member: any DeclaredMember) -> Node? { key(member.name) }

    package func path(of member: any DeclaredMember) -> String { path(member.name) }

    /// Reports an error of `member`, with its full name before `message`, at `node` or else at its value.
    package func error(_ member: any DeclaredMember, at node: Node? = nil, _ message: String) {
        error(member.name, at: node, message)
    }

    /// Reports a warning about `member`, as `error` does.
    package func warning(_ member: any DeclaredMember, at node: Node? = nil, _ message: String) {
        diagnostics.warning(node ?? value(of: member) ?? self.node, "\(path(of: member)) \(message)")
    }

    package func section(_ member: any DeclaredMember) -> Section {
        let section = section(member.name)
        if let keys = member.keysOfSection { section.declare(keys) }
        return section
    }
}

// MARK: Single values

extension FileKey where Value == Duration {
    package static func duration(
        _ name: String, in range: ClosedRange<Duration>, standard: Duration? = nil, example: String? = nil,
        change: KeyChange = .needsRestart, _ summary: String = ""
    ) -> FileKey {
        FileKey(
            name, .duration(range), standard: standard.map(DurationText.format), example: example, change: change,
            summary
        ) { $0.duration($1, in: range) }
    }
}

extension FileKey where Value == Int {
    package static func bytes(
        _ name: String, in range: ClosedRange<Int>, standard: Int, change: KeyChange = .needsRestart, _ summary: String
    ) -> FileKey {
        FileKey(name, .bytes(range), standard: ByteCount.format(standard), change: change, summary) {
            $0.bytes($1, in: range)
        }
    }

    package static func integer(
        _ name: String, in range: ClosedRange<Int>, standard: Int? = nil, example: String? = nil,
        change: KeyChange = .needsRestart, _ summary: String = ""
    ) -> FileKey {
        FileKey(
            name, .integer(range), standard: standard.map { "\($0)" }, example: example, change: change, summary
        ) { $0.integer($1, in: range) }
    }
}

extension FileKey where Value == Double {
    package static func number(
        _ name: String, in range: ClosedRange<Double>, standard: Double, change: KeyChange = .needsRestart,
        _ summary: String
    ) -> FileKey {
        FileKey(name, .number(range), standard: "\(standard)", change: change, summary) { $0.number($1, in: range) }
    }

    package static func share(
        _ name: String, in range: ClosedRange<Double>, standard: Double, change: KeyChange = .needsRestart,
        _ summary: String
    ) -> FileKey {
        FileKey(name, .share(range), standard: Share.format(standard), change: change, summary) {
            $0.share($1, in: range)
        }
    }
}

extension FileKey where Value == Bool {
    package static func bool(
        _ name: String, standard: Bool? = nil, change: KeyChange = .needsRestart, _ summary: String = ""
    ) -> FileKey {
        FileKey(name, .bool, standard: standard.map { "\($0)" }, change: change, summary) { $0.bool($1) }
    }
}

extension FileKey where Value: RawRepresentable<String> & CaseIterable & Sendable {
    /// Returns a key with one of the words of `Value`. The error about one that is required and missing shows the
    /// example.
    package static func choice(
        _ name: String, standard: Value? = nil, example: String? = nil, isRequired: Bool = false,
        change: KeyChange = .needsRestart, _ summary: String = ""
    ) -> FileKey {
        FileKey(
            name, .choice(Value.allCases.map(\.rawValue)), standard: standard?.rawValue, example: example,
            isRequired: isRequired, change: change, summary
        ) { section, name in
            if isRequired, let example, section.requiredText(name, example: example) == nil { return nil }
            return section.choice(name, Value.self)?.choice
        }
    }
}

extension FileKey where Value == String {
    /// Returns a key with a string that must not be empty.
    package static func text(
        _ name: String, form: FileForm = .text(), standard: String? = nil, example: String? = nil,
        isRequired: Bool = false, change: KeyChange = .needsRestart, _ summary: String = ""
    ) -> FileKey {
        FileKey(
            name, form, standard: standard, example: example, isRequired: isRequired, change: change, summary
        ) { $0.text($1, isRequired: isRequired, example)?.text }
    }

    /// Returns a key with a string that may be empty: whatever uses it requires more of it.
    package static func anyText(
        _ name: String, form: FileForm = .text(), example: String? = nil, isSecret: Bool = false,
        change: KeyChange = .needsRestart, _ summary: String = ""
    ) -> FileKey {
        FileKey(name, form, example: example, isSecret: isSecret, change: change, summary) { $0.text($1)?.text }
    }

    package static func word(
        _ name: String, of words: [String], standard: String? = nil, example: String? = nil,
        change: KeyChange = .needsRestart, _ summary: String
    ) -> FileKey {
        FileKey(name, .choice(words), standard: standard, example: example, change: change, summary) {
            $0.word($1, of: words)
        }
    }
}

extension FileKey where Value == EndpointURL {
    package static func endpoint(
        _ name: String, example: String, isRequired: Bool = false, change: KeyChange = .needsRestart, _ summary: String
    ) -> FileKey<EndpointURL> {
        FileKey(name, .url, example: example, isRequired: isRequired, change: change, summary) { section, name in
            section.text(name, isRequired: isRequired, example).flatMap { section.endpoint($0.text, $0.node, name) }
        }
    }

    /// Returns a key with a URL that may be empty: whatever uses it requires more of it.
    package static func anyEndpoint(
        _ name: String, example: String, change: KeyChange = .needsRestart, _ summary: String
    ) -> FileKey<EndpointURL> {
        FileKey(name, .url, example: example, change: change, summary) { section, name in
            guard let (text, node) = section.text(name), !text.isEmpty else { return nil }
            return section.endpoint(text, node, name)
        }
    }
}

extension FileKey where Value == HostAndPort {
    package static func address(
        _ name: String, standard: String? = nil, example: String? = nil, isRequired: Bool = false, _ summary: String
    ) -> FileKey<HostAndPort> {
        FileKey(name, .address, standard: standard, example: example, isRequired: isRequired, summary) {
            section, name in
            guard let (text, node) = section.text(name, isRequired: isRequired, example) else { return nil }
            if let address = HostAndPort(text) { return address }
            section.error(name, at: node, "must be host:port, such as \(standard ?? example ?? "127.0.0.1:8080")")
            return nil
        }
    }
}

extension FileKey where Value == UnixTime {
    /// Returns a key with a date-time of RFC 3339, or seconds since 1970.
    package static func time(
        _ name: String, form: FileForm = .text(), example: String? = nil, _ summary: String = ""
    ) -> FileKey<UnixTime> {
        FileKey(name, form, example: example, summary) { section, name in
            guard let (text, node) = section.text(name) else { return nil }
            if let time = Int64(text).map({ UnixTime(seconds: $0) }) ?? RFC3339.parse(text) { return time }
            section.error(name, at: node, "is a time such as 2026-11-25T12:00:00Z, or seconds since 1970")
            return nil
        }
    }
}

extension FileKey where Value == [UInt8] {
    package static func json(
        _ name: String, form: FileForm = .any, example: String? = nil, isRequired: Bool = false, _ summary: String = ""
    ) -> FileKey {
        FileKey(name, form, example: example, isRequired: isRequired, summary) { $0.json($1) }
    }
}

// MARK: Lists and mappings

extension FileKey where Value == [String] {
    /// Returns a key with a list of texts.
    ///
    /// - Parameter demand: the demand that an error repeats.
    package static func list(
        _ name: String, of form: FileForm = .text(), example: String? = nil, change: KeyChange = .needsRestart,
        orElse demand: String = "a list of texts, as in [a, b]", _ summary: String
    ) -> FileKey {
        FileKey(
            name, .list(of: form, count: 1...Int.max), example: example, change: change, summary
        ) { section, name in
            guard let node = section.value(name) else { return nil }
            let texts = node.sequence?.compactMap { $0.scalar?.string } ?? []
            guard !texts.isEmpty, texts.count == node.sequence?.count else {
                section.error(name, at: node, "must be \(demand)")
                return nil
            }
            return texts
        }
    }
}

extension FileKey where Value == Node {
    /// Returns a key whose value its reader takes apart.
    package static func node(
        _ name: String, _ form: FileForm, isRequired: Bool = false, _ summary: String = ""
    ) -> FileKey {
        FileKey(name, form, isRequired: isRequired, summary) { $0.value($1) }
    }
}

extension FileKey where Value == Section {
    package static func section(
        _ name: String, _ keys: [KeyDescription], isRequired: Bool = false, _ summary: String = ""
    ) -> FileKey {
        FileKey(name, .section(keys), isRequired: isRequired, summary) {
            $0.value($1) == nil ? nil : $0.section($1).declare(keys)
        }
    }

    package static func mapping(
        _ name: String, _ form: FileForm, example: String? = nil, isRequired: Bool = false, isSecret: Bool = false,
        change: KeyChange = .needsRestart, _ summary: String = ""
    ) -> FileKey {
        FileKey(
            name, form, example: example, isRequired: isRequired, isSecret: isSecret, change: change, summary
        ) { $0.value($1) == nil ? nil : $0.section($1) }
    }
}

extension Section {
    package func json(_ name: String) -> [UInt8]? {
        guard let node = value(name) else { return nil }
        if let json = node.json() { return json }
        error(name, at: node, "cannot be written as JSON")
        return nil
    }

    fileprivate func text(_ name: String, isRequired: Bool, _ example: String?) -> (text: String, node: Node)? {
        isRequired ? requiredText(name, example: example) : requiredTextIfPresent(name)
    }

    fileprivate func endpoint(_ text: String, _ node: Node, _ name: String) -> EndpointURL? {
        do throws(EndpointURL.Problem) { return try EndpointURL(parsing: text) } catch {
            self.error(name, at: node, "\(error.message)")
            return nil
        }
    }
}
