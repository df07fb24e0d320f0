/// Columns for a terminal: each as wide as its widest cell.
package struct TextTable {
    private let header: [String]
    /// The rows, without the header.
    package private(set) var rows: [[String]] = []

    /// An empty table under `header`.
    package init(_ header: String...) { self.header = header }

    /// Adds a row.
    package mutating func add(_ cells: String...) { rows.append(cells) }

    /// The table's lines: the header, a rule, the rows.
    package var lines: [String] {
        let widths = header.indices.map { column in
            ([header] + rows).map { $0[column].count }.max() ?? 0
        }
        func line(_ cells: [String]) -> String {
            zip(cells, widths).map { cell, width in cell + String(repeating: " ", count: width - cell.count) }
                .joined(separator: "  ").trimmingEnd()
        }
        return [line(header), line(widths.map { String(repeating: "-", count: $0) })] + rows.map(line)
    }
}

extension String {
    /// Returns a string from outside as a terminal may show it: without control characters, at most `limit` long.
    package func printable(limit: Int = 120) -> String {
        let shown = String(
            String.UnicodeScalarView(unicodeScalars.prefix(limit + 1).filter { !$0.properties.isControl }))
        return shown.count > limit ? shown.prefix(limit - 1) + "…" : shown
    }

    fileprivate func trimmingEnd() -> String {
        String(reversed().drop { $0 == " " }.reversed())
    }
}

extension Unicode.Scalar.Properties {
    /// Whether a terminal would act on the character instead of showing it, or show others in another order.
    fileprivate var isControl: Bool {
        [.control, .format, .lineSeparator, .paragraphSeparator].contains(generalCategory)
    }
}
