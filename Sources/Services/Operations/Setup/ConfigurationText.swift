/// The text of a configuration to which entries are added. All other lines stay as they are.
struct ConfigurationText {
    private var lines: [String]

    /// The configuration `text`.
    init(_ text: String) {
        lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    /// The text.
    var text: String { lines.joined(separator: "\n") }

    /// Adds `entry`, which is indented by two spaces, at the end of the section `name`.
    ///
    /// - Returns: whether there is a section that can be added to: its name in a line of its own, and its entries below.
    mutating func add(_ entry: [String], to name: String) -> Bool {
        guard let start = lines.firstIndex(where: { Self.names($0, name) }) else { return false }
        let after = lines[(start + 1)...].firstIndex { !Self.isBlank($0) && !$0.hasPrefix(" ") } ?? lines.endIndex
        guard let first = lines[start..<after].dropFirst().first(where: { !Self.isBlank($0) }),
            let last = lines[start..<after].lastIndex(where: { !Self.isBlank($0) })
        else { return false }
        let indentation = first.prefix { $0 == " " }.count
        guard indentation >= 2 else { return false }
        let space = String(repeating: " ", count: indentation - 2)
        lines.insert(contentsOf: entry.map { space + $0 }, at: last + 1)
        return true
    }

    private static func names(_ line: String, _ section: String) -> Bool {
        guard line.hasPrefix(section + ":") else { return false }
        return isBlank(String(line.dropFirst(section.count + 1)))
    }

    /// Whether the line has nothing but spaces and a comment.
    private static func isBlank(_ line: String) -> Bool {
        line.first { $0 != " " && $0 != "\t" && $0 != "\r" }.map { $0 == "#" } ?? true
    }
}
