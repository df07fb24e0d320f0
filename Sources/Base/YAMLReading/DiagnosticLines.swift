/// Findings as a person reads them: many of one kind are one line, at the place of the first.
public struct DiagnosticLines: Sendable {
    /// The largest number of findings of one kind that have a line each.
    private static let most = 3

    /// The findings of one kind and severity.
    private struct Group: Hashable {
        let kind: Diagnostic.Kind
        let severity: Diagnostic.Severity
    }

    /// The lines, in the order of the findings.
    public let lines: [String]

    /// The lines about `diagnostics`.
    ///
    /// - Parameter remedy: the words that show how to see every finding of a kind.
    public init(_ diagnostics: [Diagnostic], remedy: String) {
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
