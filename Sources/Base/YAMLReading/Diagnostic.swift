/// A place in a file, from 1.
public struct FileLocation: Sendable, Hashable {
    /// The file.
    public let file: String
    /// The line.
    public let line: Int
    /// The column.
    public let column: Int

    /// `column` of `line` of `file`.
    public init(file: String, line: Int, column: Int) {
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
        public init(_ words: String) { self.words = words }
    }

    /// The place in the file.
    public let place: FileLocation
    /// The severity.
    public let severity: Severity
    /// The mistake and its correction.
    public let message: String
    /// The kind; nil for a finding that is always printed by itself.
    public let kind: Kind?

    /// `message` about `place`.
    public init(_ severity: Severity, at place: FileLocation, _ message: String, kind: Kind? = nil) {
        self.place = place
        self.severity = severity
        self.message = message
        self.kind = kind
    }

    /// The diagnostic as `FILE:LINE:COLUMN: SEVERITY: MESSAGE`.
    public var description: String { "\(place.file):\(place.line):\(place.column): \(severity): \(message)" }
}
