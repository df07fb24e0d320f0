extension String {
    /// Returns a message of the parser with its usage in lines of at most `columns`: the parser writes the usage in one line.
    func wrappingUsage(at columns: Int) -> String {
        split(separator: "\n", omittingEmptySubsequences: false)
            .map { $0.lowercased().hasPrefix("usage: ") ? $0.wrapped(at: columns) : String($0) }
            .joined(separator: "\n")
    }
}

extension Substring {
    /// Returns a usage whose lines begin below its first command, and break between two options.
    fileprivate func wrapped(at columns: Int) -> String {
        let indent = String(repeating: " ", count: 7)
        var lines: [String] = []
        for part in parts {
            if let last = lines.last, last.count + 1 + part.count <= columns {
                lines[lines.count - 1] = "\(last) \(part)"
            } else {
                lines.append(lines.isEmpty ? part : indent + part)
            }
        }
        return lines.joined(separator: "\n")
    }

    /// The parts of a usage that no line breaks: an option with its value, what is in brackets, or a word.
    private var parts: [String] {
        var parts: [String] = []
        for word in split(separator: " ").map(String.init) {
            let isOpen = parts.last.map { $0.count { $0 == "[" } > $0.count { $0 == "]" } } ?? false
            let isValue = word == "..." || word.hasPrefix("<") && parts.last?.hasPrefix("-") == true
            if isOpen || isValue { parts[parts.count - 1] += " \(word)" } else { parts.append(word) }
        }
        return parts
    }
}
