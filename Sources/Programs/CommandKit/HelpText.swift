extension String {
    /// Returns the text of a command's help.
    ///
    /// A terminal wraps the text at its own width, so the lines of a paragraph are joined here. Indented lines stay as they are.
    ///
    /// - Parameters:
    ///   - text: Paragraphs, with empty lines between them.
    ///   - examples: Command lines, at most 76 characters each.
    package static func help(_ text: String = "", examples: String) -> String {
        let lines = examples.split(separator: "\n").map { "  \($0)" }
        let parts = [joined(text), "Examples:\n\(lines.joined(separator: "\n"))"]
        return parts.filter { !$0.isEmpty }.joined(separator: "\n\n")
    }

    private static func joined(_ text: String) -> String {
        var result = ""
        var isOpen = false
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            let isWords = !line.isEmpty && !line.hasPrefix(" ")
            if !result.isEmpty { result += isOpen && isWords ? " " : "\n" }
            result += line
            isOpen = isWords
        }
        return result
    }
}
