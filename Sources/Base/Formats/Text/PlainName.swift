/// The rule for names that become parts of files' names, command lines, headers and metrics: the ids of key versions and the names of
/// key rings.
package enum PlainName {
    /// The longest name, in bytes.
    package static let longest = 128

    /// The rule in words, as errors repeat it.
    package static let rule = """
        1 to \(longest) letters (A to Z, a to z), digits, dots, hyphens and underscores, beginning with a letter, a digit or an underscore
        """

    /// Returns the flaw of `name`, such as `holds " "`; nil if it follows the rule.
    package static func flaw(of name: String) -> String? {
        guard let first = name.unicodeScalars.first else { return "is empty" }
        if first == "-" { return "begins with a hyphen, and would be read as an option" }
        if first == "." { return "begins with a dot" }
        if let odd = name.unicodeScalars.first(where: { !isPlain($0) }) {
            return "holds \(quote(String(odd)))"
        }
        let count = name.utf8.count
        return count > longest ? "has \(count.of("character"))" : nil
    }

    /// Returns `text` in quotes for an error: on one line, with a terminal's control characters escaped, and cut if
    /// long.
    package static func quote(_ text: String) -> String {
        let shown = text.unicodeScalars.prefix(40).map(escape).joined()
        return text.unicodeScalars.count > 40 ? "\"\(shown)…\"" : "\"\(shown)\""
    }

    /// Returns whether `text` contains a character that is not shown, but moves the cursor, ends a line or reverses the
    /// writing.
    package static func hasControls(_ text: String) -> Bool {
        text.unicodeScalars.contains {
            [.control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned]
                .contains($0.properties.generalCategory)
        }
    }

    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", ".", "-", "_": true
        default: false
        }
    }

    private static func escape(_ scalar: Unicode.Scalar) -> String {
        switch scalar {
        case "\"", "\\": return "\\\(scalar)"
        case " "..."~": return String(scalar)
        case "\n": return "\\n"
        case "\t": return "\\t"
        default: break
        }
        let isVisible = scalar.properties.isAlphabetic || scalar.properties.numericType != nil
        return isVisible ? String(scalar) : "\\u{\(String(scalar.value, radix: 16))}"
    }
}
