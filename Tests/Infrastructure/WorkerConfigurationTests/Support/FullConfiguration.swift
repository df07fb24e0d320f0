import AdapterKit
import Testing
import WorkerConfiguration

/// A file of `Fixtures/good` that has every key it can, line by line: which key is where.
struct FullConfiguration: Sendable {
    /// A key or a section of the file.
    struct Member: CustomTestStringConvertible, Sendable {
        /// The names from the top down to its own.
        let path: [String]
        /// Its lines.
        let lines: Range<Int>
        /// The number of spaces before the line.
        let indent: Int
        /// The text behind the member's name; empty for a section.
        let value: String
        /// The declaration of the member.
        let declaration: Declaration
        /// The file.
        let file: String

        var testDescription: String { "\(path.joined(separator: ".")) in \(file)" }
    }

    /// The declaration of a member.
    enum Declaration: Sendable {
        case key(KeyDescription)
        case section(SectionDescription)
        /// The name is the user's.
        case named
        /// A property of librdkafka's.
        case property
        case setting(SettingKey)
    }

    let fixture: Fixture
    let members: [Member]
    private let lines: [String]

    /// All of them: one file can name one source of tokens.
    static let all: [FullConfiguration] = Fixture.all(in: "good").filter { $0.name.hasPrefix("full") }.map(Self.init)

    /// The one that `member` is of.
    static func of(_ member: Member) throws -> FullConfiguration {
        try #require(all.first { $0.fixture.name == member.file })
    }

    private init(_ fixture: Fixture) {
        self.fixture = fixture
        lines = fixture.text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let apps = fixture.read().configuration?.apps ?? []
        var members: [Member] = []
        var above: [(name: String, indent: Int)] = []
        for (index, line) in lines.enumerated() {
            guard let match = line.firstMatch(of: /^( *)([A-Za-z_.\-]+):(?: (.*))?$/) else { continue }
            let indent = match.1.count
            above.removeAll { $0.indent >= indent }
            above.append((String(match.2), indent))
            let rest = lines[(index + 1)...]
            let end =
                rest.firstIndex { !$0.isEmpty && $0.prefix(while: { $0 == " " }).count <= indent } ?? lines.count
            let path = above.map(\.name)
            members.append(
                Member(
                    path: path, lines: index..<end, indent: indent, value: String(match.3 ?? ""),
                    declaration: Self.declaration(of: path, apps: apps), file: fixture.name))
        }
        self.members = members
    }

    /// The file without `member`, or with `line` in its place; all others stay where they are.
    func replacing(_ member: Member, with line: String = "") -> Fixture {
        var lines = lines
        for index in member.lines { lines[index] = "" }
        if !line.isEmpty { lines[member.lines.lowerBound] = String(repeating: " ", count: member.indent) + line }
        var other = fixture
        other.text = lines.joined(separator: "\n")
        return other
    }

    // MARK: Declarations

    private static func declaration(of path: [String], apps: [Configuration.App]) -> Declaration {
        var keys = Configuration.sections.filter { $0.name.isEmpty }.flatMap(\.keys)
        var sections = Configuration.sections
        var found = Declaration.named
        for (depth, name) in path.enumerated() {
            if case .key(let key) = found {
                let app = apps.first { path.count > 1 && $0.name == path[1] }
                let setting = app?.settings.first { $0.name == name }
                return key.form == .settings ? setting.map { .setting($0) } ?? .named : .property
            }
            if let key = keys.first(where: { $0.name == name }) {
                found = .key(key)
            } else if let section = sections.first(where: { $0.name == name && !name.isEmpty }) {
                found = .section(section)
                (keys, sections) = (section.keys, section.sections)
            } else if let each = sections.first(where: { $0.name == "*" }), depth > 0 {
                found = .named
                (keys, sections) = (each.keys, each.sections)
            }
        }
        return found
    }

    /// Every key and section that is declared, with `*` for a user's name.
    static var declared: Set<String> {
        var all: Set<String> = []
        func add(_ section: SectionDescription, _ path: [String]) {
            let path = section.name.isEmpty ? path : path + [section.name]
            if !path.isEmpty { all.insert(path.joined(separator: ".")) }
            for key in section.keys { all.insert((path + [key.name]).joined(separator: ".")) }
            for inner in section.sections { add(inner, path) }
        }
        for section in Configuration.sections { add(section, []) }
        return all
    }

    /// The members' paths in the spelling of `declared`.
    var written: Set<String> {
        var paths: Set<String> = []
        var isNamed: Set<[String]> = []
        for member in members {
            if case .named = member.declaration { isNamed.insert(member.path) }
            let names = member.path.indices.map { index in
                isNamed.contains(Array(member.path[...index])) ? "*" : member.path[index]
            }
            switch member.declaration {
            case .key, .section, .named: paths.insert(names.joined(separator: "."))
            case .property, .setting: break
            }
        }
        return paths
    }
}
