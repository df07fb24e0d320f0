package import Yams

/// Collects the problems of a file while it is read, so that one run reports all of them.
package final class Diagnostics {
    package let file: String
    package private(set) var all: [Diagnostic] = []

    private var refused: Set<FileLocation> = []

    package init(file: String) { self.file = file }

    package func error(_ node: Node?, _ message: String) { append(Diagnostic(.error, at: place(of: node), message)) }

    package func error(at place: FileLocation, _ message: String) { append(Diagnostic(.error, at: place, message)) }

    /// Reports `diagnostic`, unless it is about a value that was refused as a whole.
    package func append(_ diagnostic: Diagnostic) {
        if !refused.contains(diagnostic.place) { all.append(diagnostic) }
    }

    /// Reports an error of a value that nobody knows, such as one of an undefined variable. Further messages about the
    /// value follow from this error, and are not reported.
    package func refuse(_ node: Node, _ message: String) {
        error(node, message)
        refused.insert(place(of: node))
    }

    /// Returns whether the value was refused as a whole; false where there is none.
    package func isRefused(_ node: Node?) -> Bool { node.map { refused.contains(place(of: $0)) } ?? false }

    /// The errors about required keys that are missing, with the keys' paths.
    private var missing: [(path: String, error: Diagnostic)] = []
    /// The paths of keys that are in the file with another spelling.
    private var misspelled: Set<String> = []

    /// Reports that the required key `path` is missing, unless it is in the file with another spelling.
    package func missing(_ path: String, _ node: Node?, _ message: String) {
        guard !misspelled.contains(path) else { return }
        let error = Diagnostic(.error, at: place(of: node), message)
        missing.append((path, error))
        append(error)
    }

    /// Records that the key `path` is in the file with another spelling, which has an error of its own, and removes the
    /// errors about the missing key, and about those inside it.
    package func misspelled(_ path: String) {
        misspelled.insert(path)
        let settled = missing.filter { $0.path == path || $0.path.hasPrefix(path + ".") }.map(\.error)
        all.removeAll { settled.contains($0) }
    }

    package var hasErrors: Bool { all.contains { $0.severity == .error } }

    package func warning(_ node: Node?, _ message: String) {
        append(Diagnostic(.warning, at: place(of: node), message))
    }

    package func notice(at place: FileLocation, _ message: String) {
        append(Diagnostic(.notice, at: place, message))
    }

    package func warn(at place: FileLocation, _ message: String) {
        append(Diagnostic(.warning, at: place, message))
    }

    package func append(line: Int, column: Int, _ message: String) {
        append(Diagnostic(.error, at: FileLocation(file: file, line: line, column: column), message))
    }

    /// Values that came from the environment, by their places: they may be secrets and are not repeated.
    private var completed: Set<FileLocation> = []

    package func complete(_ node: Node) { completed.insert(place(of: node)) }

    /// Returns whether the value is partly from the environment.
    package func isCompleted(_ node: Node) -> Bool { completed.contains(place(of: node)) }

    /// Returns `text`, unless it came from the environment.
    package func quote(_ text: String, _ node: Node) -> String {
        isCompleted(node) ? "the environment's value" : text
    }

    package func place(of node: Node?) -> FileLocation {
        FileLocation(file: file, line: node?.mark?.line ?? 1, column: node?.mark?.column ?? 1)
    }
}

extension Diagnostics {
    /// Returns the absolute path of `path`, which is relative to the file that names it.
    package func resolve(_ path: String) -> String {
        guard !path.hasPrefix("/"), let slash = file.lastIndex(of: "/") else { return path }
        return file[...slash] + path
    }

    package func syntax(_ error: YamlError) {
        switch error {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            append(line: mark.line, column: mark.column, "not YAML: \(problem)\(Self.remedy(problem))")
        case .duplicatedKeysInMapping(let duplicates, let context):
            append(
                line: context.mark.line, column: context.mark.column,
                "a duplicate key: \(duplicates.map { "\($0)" }.joined(separator: ", ")); keep one of them")
        case .reader(let problem, let offset, _, let yaml):
            let lines = yaml.prefix(offset ?? 0).split(omittingEmptySubsequences: false) { $0.isNewline }
            append(
                line: lines.count, column: (lines.last?.count ?? 0) + 1, "not YAML: \(problem)\(Self.remedy(problem))")
        default: append(line: 1, column: 1, "not YAML")
        }
    }

    /// Returns the usual remedy for libyaml's `problem`, which only names the expected token; empty where that text is
    /// enough.
    private static func remedy(_ problem: String) -> String {
        switch problem {
        case let problem where problem.contains("tab character"): "; indent with spaces, not tabs"
        case "found character that cannot start any token":
            "; indent with spaces, not tabs, and quote a string that begins with @ or `"
        case "mapping values are not allowed in this context":
            "; look for a missing colon or another indentation in the line above, and quote a string with a colon in it"
        case "could not find expected ':'": "; write a colon and a space behind the key above"
        case "found undefined alias": "; quote a string that begins with *, or write the &anchor in front of its alias"
        case "found unexpected end of stream": "; a quote is open"
        case "found unknown escape character", "did not find expected hexdecimal number":
            "; a backslash is itself in single quotes"
        case "but found another document": "; a file holds one: remove --- and what follows it"
        case "control characters are not allowed": "; remove it"
        default: ""
        }
    }
}

/// A place in a file, from 1.
public struct FileLocation: Sendable, Hashable {
    package let file: String
    package let line: Int
    package let column: Int

    package init(file: String, line: Int, column: Int) {
        self.file = file
        self.line = line
        self.column = column
    }
}

/// A finding about a configuration: its place, the problem and the likely fix. It prints in the form of compilers'
/// messages.
public struct Diagnostic: Sendable, Equatable, CustomStringConvertible {
    /// The severity of a diagnostic.
    public enum Severity: String, Sendable {
        /// The worker does not start.
        case error
        /// The worker starts; someone should look.
        case warning
        /// The value is valid, and has a consequence that an operator should know.
        case notice
    }

    /// A kind of finding that a configuration may have in many places, for one line about all of them.
    public struct Kind: Sendable, Hashable {
        /// The words behind the number of findings.
        let words: String

        /// The kind with `words` behind the number of its findings, such as `files are old`.
        package init(_ words: String) { self.words = words }
    }

    package let place: FileLocation
    package let severity: Severity
    package let message: String
    /// The kind; nil for a finding that is always printed by itself.
    package let kind: Kind?

    package init(_ severity: Severity, at place: FileLocation, _ message: String, kind: Kind? = nil) {
        self.place = place
        self.severity = severity
        self.message = message
        self.kind = kind
    }

    /// The diagnostic as `FILE:LINE:COLUMN: SEVERITY: MESSAGE`.
    public var description: String { "\(place.file):\(place.line):\(place.column): \(severity): \(message)" }
}

/// Findings as a person reads them: many of one kind are one line, at the place of the first.
public struct DiagnosticLines: Sendable {
    /// The largest number of findings of one kind that have a line each.
    private static let most = 3

    /// The findings of one kind and severity.
    private struct Group: Hashable {
        let kind: Diagnostic.Kind
        let severity: Diagnostic.Severity
    }

    package let lines: [String]

    /// The lines about `diagnostics`.
    ///
    /// - Parameter remedy: the words that show how to see every finding of a kind.
    package init(_ diagnostics: [Diagnostic], remedy: String) {
        let counts = diagnostics.reduce(into: [Group: Int]()) { counts, diagnostic in
            if let group = Self.group(of: diagnostic) { counts[group, default: 0] += 1 }
        }
        var seen: Set<Group> = []
        lines = diagnostics.compactMap { diagnostic in
            guard let group = Self.group(of: diagnostic), let count = counts[group], count > Self.most else {
                return diagnostic.description
            }
            guard seen.insert(group).inserted else { return nil }
            let summary = Diagnostic(
                group.severity, at: diagnostic.place, "\(count) \(group.kind.words), the first one here; \(remedy)")
            return summary.description
        }
    }

    private static func group(of diagnostic: Diagnostic) -> Group? {
        diagnostic.kind.map { Group(kind: $0, severity: diagnostic.severity) }
    }
}
