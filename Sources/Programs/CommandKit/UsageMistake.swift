import ArgumentParser
import YAMLReading

/// A mistake in a command line that names a near command or option: the parser itself reports only that something is wrong.
struct UsageMistake {
    /// The mistake and its remedy, in one line.
    let message: String
    /// The command that the line reaches.
    let command: any ParsableCommand.Type

    /// The mistake in `arguments` of `root`; nil where there is none of these kinds.
    ///
    /// - Parameter isAnswered: whether the parser has an answer to print, such as the help.
    init?(in arguments: [String], of root: any ParsableCommand.Type, isAnswered: Bool) {
        let words = arguments.prefix { $0 != "--" }
        var reached: any ParsableCommand.Type = root
        for (place, word) in words.enumerated() {
            let below = reached.configuration.subcommands
            if place == 0, word == "help" { continue }
            guard !below.isEmpty, !word.hasPrefix("-") else { break }
            if let next = below.first(where: { Self.name(of: $0) == word }) {
                reached = next
                continue
            }
            let near = Spelling.nearest(to: word, among: below.map { Self.name(of: $0) })
            guard !isAnswered || words.first == "help" else { return nil }
            // Words that are near no command may be arguments of the default one.
            guard near != nil || reached.configuration.defaultSubcommand == nil else { break }
            let meant = near.map { ". Did you mean '\($0)'?" } ?? ""
            message = "Unknown command '\(word.printable(limit: 40))'\(meant)"
            command = reached
            return
        }
        let meantCommand = reached.configuration.defaultSubcommand ?? reached
        command = meantCommand
        // Another rendering of the help, which the help itself does not need.
        lazy var options = Self.options(of: meantCommand, in: root)
        for word in words where word.hasPrefix("--") {
            let name = String(word.prefix { $0 != "=" })
            if name == "--version", options.contains("--key-version") {
                message = "A key's version is named with '--key-version'; '--version' prints the program's"
                return
            }
            guard !isAnswered, !options.contains(name), !name.hasPrefix("--generate-completion-script"),
                !name.hasPrefix("--experimental-"), name != "--help-hidden"
            else { continue }
            let meant = Spelling.nearest(to: name, among: options).map { ". Did you mean '\($0)'?" } ?? ""
            message = "Unknown option '\(name.printable(limit: 40))'\(meant)"
            return
        }
        return nil
    }

    /// Returns the word that calls `command`.
    static func name(of command: any ParsableCommand.Type) -> String { command.configuration.commandName ?? "" }

    /// Returns the options of `command`, as its help lists them.
    private static func options(of command: any ParsableCommand.Type, in root: any ParsableCommand.Type) -> [String] {
        let listed = root.helpMessage(for: command, columns: 10_000).split(separator: "\n")
            .drop { $0 != "OPTIONS:" }.filter { $0.hasPrefix("  -") }
        // The names stand before the gap to the description, which may name other options.
        return listed.flatMap { line in
            line.dropFirst(2).prefix { $0 != "<" }.split(separator: "  ", maxSplits: 1)[0]
                .split { $0 == "," || $0 == "/" || $0 == " " }.map(String.init).filter { $0.hasPrefix("--") }
        }
    }
}

extension ParsableCommand {
    /// Returns the usage of `command`, which is this one or below it, and the call that prints its help.
    static func usage(of command: any ParsableCommand.Type) -> String {
        let help = helpMessage(for: command, columns: 10_000).split(separator: "\n")
        let usage = help.first { $0.hasPrefix("USAGE: ") }.map { "Usage: \($0.dropFirst(7))\n" } ?? ""
        let path = path(to: command) ?? []
        return "\(usage)  See '\(path.joined(separator: " ")) --help' for more information."
    }

    /// Returns the words that call `command`; nil where it is not below this one.
    private static func path(to command: any ParsableCommand.Type) -> [String]? {
        if ObjectIdentifier(command) == ObjectIdentifier(self) { return [UsageMistake.name(of: self)] }
        for below in configuration.subcommands {
            if let path = below.path(to: command) { return [UsageMistake.name(of: self)] + path }
        }
        return nil
    }
}

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
