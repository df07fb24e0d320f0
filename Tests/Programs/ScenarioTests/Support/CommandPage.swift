import Foundation

/// A page with commands to run, each followed by the words that it prints.
struct CommandPage {
    /// Commands, and the output that the page shows for them, if it shows one.
    struct Step {
        let commands: String
        let output: String?
    }

    let steps: [Step]

    /// - Parameter text: the page. Blocks ```sh are commands; a block ```text after one is its output. Other blocks are not run.
    init(_ text: String) {
        let blocks = text.matches(of: /(?m)^```([a-z]*)\n((?:(?!```).*\n)*)```$/)
            .map { (kind: String($0.1), text: String($0.2)) }
        steps = blocks.indices.filter { blocks[$0].kind == "sh" }.map { index in
            let next = blocks.dropFirst(index + 1).first
            return Step(commands: blocks[index].text, output: next?.kind == "text" ? next?.text : nil)
        }
    }

    /// All commands as one script, which prints a mark before each step, and sends errors where the output goes.
    var script: String {
        // Job control makes the background worker known as %1, as in a terminal; it goes with the shell, whatever fails.
        let start = "trap 'kill $(jobs -p) 2>/dev/null || true' EXIT\nexec 2>&1\n"
        return start
            + steps.enumerated().map { "printf '\\n\(Self.mark($0.offset))\\n'\n\($0.element.commands)" }.joined()
    }

    /// The parts of the script's output, one for each step that began.
    func parts(of output: String) -> [String] {
        var rest = output[...]
        var parts: [String] = []
        for index in steps.indices {
            guard let mark = rest.range(of: "\n\(Self.mark(index))\n") else { break }
            if index > 0 { parts.append(String(rest[..<mark.lowerBound])) }
            rest = rest[mark.upperBound...]
            if index == steps.count - 1 { parts.append(String(rest)) }
        }
        // The last step that began has the rest.
        if parts.count < steps.count, output.contains(Self.mark(parts.count)) { parts.append(String(rest)) }
        return parts
    }

    private static func mark(_ index: Int) -> String { "== step \(index) ==" }

    // MARK: Comparing

    /// The first shown line that the printed output lacks at its place; nil if all lines agree.
    ///
    /// A shown line `…` stands for any number of printed lines, and `…` within a line for any characters. The width of a space
    /// and empty lines do not count, nor the lines of progress, which a command prints only where it takes long.
    static func firstDifference(shown: String, printed: String) -> String? {
        let lines = Self.lines(of: printed).filter { !$0.contains(#/^remint: \d+ % /#) }
        // The numbers of printed lines that the shown lines so far may have used up.
        var used: Set<Int> = [0]
        for line in Self.lines(of: shown) {
            if line == "…" {
                used = Set((used.min() ?? 0)...lines.count)
            } else {
                used = Set(used.filter { $0 < lines.count && agree(line, lines[$0]) }.map { $0 + 1 })
            }
            if used.isEmpty { return line }
        }
        return used.contains(lines.count) ? nil : "(the end of the output)"
    }

    private static func lines(of text: String) -> [String] {
        text.split(separator: "\n").map { $0.split(whereSeparator: \.isWhitespace).joined(separator: " ") }
            .filter { !$0.isEmpty }
    }

    private static func agree(_ shown: String, _ printed: String) -> Bool {
        let pieces = shown.split(separator: "…", omittingEmptySubsequences: false)
        guard let first = pieces.first, let last = pieces.last, pieces.count > 1 else { return shown == printed }
        guard printed.hasPrefix(first) else { return false }
        var rest = printed.dropFirst(first.count)
        for piece in pieces.dropFirst().dropLast() where !piece.isEmpty {
            guard let place = rest.range(of: piece) else { return false }
            rest = rest[place.upperBound...]
        }
        return rest.hasSuffix(last)
    }
}
