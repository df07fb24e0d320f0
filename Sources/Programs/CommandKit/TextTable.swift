package import AdapterKit

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

extension JSONWriter {
    /// The JSON as a terminal may have it: characters on which it would act, which JSON allows in a string, are escaped.
    package var printable: String {
        let text = String(decoding: bytes, as: UTF8.self)
        guard text.unicodeScalars.contains(where: \.properties.isControl) else { return text }
        return text.unicodeScalars.reduce(into: "") { text, scalar in
            guard scalar.properties.isControl else { return text.unicodeScalars.append(scalar) }
            for unit in String(scalar).utf16 {
                let digits = String(unit, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            }
        }
    }
}

extension Unicode.Scalar.Properties {
    /// Whether a terminal would act on the character instead of showing it, or show others in another order.
    fileprivate var isControl: Bool {
        [.control, .format, .lineSeparator, .paragraphSeparator].contains(generalCategory)
    }
}
