package import Foundation
import ProgramTestSupport

extension Command {
    /// Runs a line as a shell in `folder` that finds the program.
    ///
    /// One plain command of `remint` runs in the test's process. Any other line, a service, and a command that writes to the
    /// current folder run in a shell.
    package static func shell(_ line: String, in folder: URL) async throws -> Command {
        if let (arguments, environment) = plain(line) {
            return try await remint(arguments, directory: folder, environment: environment)
        }
        let programs = URL(filePath: Repository.remint).deletingLastPathComponent().path
        let others = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let shell = try await Program.run(
            "/bin/sh", ["-c", line], directory: folder, environment: ["PATH": "\(programs):\(others)"])
        return Command(status: shell.status, outputText: shell.outputText, errorText: shell.errorText)
    }

    /// Returns the arguments of a line that is one command of `remint`, perhaps behind `env`, and the variables of its
    /// environment; nil for another line.
    private static func plain(_ line: String) -> (arguments: [String], environment: [String: String?])? {
        guard var words = words(of: line)?[...] else { return nil }
        var environment: [String: String?] = [:]
        if words.first == "env" {
            words.removeFirst()
            while let word = words.first, word == "-u" || word.contains("=") {
                words.removeFirst()
                if word == "-u" {
                    environment.updateValue(nil, forKey: words.popFirst() ?? "")
                } else {
                    let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                    environment.updateValue(String(parts[1]), forKey: String(parts[0]))
                }
            }
        }
        guard words.popFirst() == "remint" else { return nil }
        let isProcess =
            switch words.first {
            case "run"?, "pickup"?, "signer"?: true
            case "adapter"?: words.dropFirst().first == "new"
            case "reissue"?: !words.contains("--input") && !words.contains("--state")
            default: false
            }
        return isProcess ? nil : (Array(words), environment)
    }

    /// Returns the words of a line as a shell reads them; nil where the line has more than one command, or words that a shell
    /// makes others of.
    private static func words(of line: String) -> [String]? {
        var words: [String] = []
        var word: String?
        var quote: Character?
        var isEscaped = false
        for character in line {
            if isEscaped {
                // Between double quotes, a backslash is a character before all but these.
                let isKept = quote != nil && !#""\$`"#.contains(character)
                word = (word ?? "") + (isKept ? "\\" : "") + String(character)
                isEscaped = false
            } else if character == quote {
                quote = nil
            } else if character == "\\", quote != "'" {
                isEscaped = true
            } else if quote == nil, character == "'" || character == "\"" {
                quote = character
                word = word ?? ""
            } else if quote == nil, character == " " {
                if let word { words.append(word) }
                word = nil
            } else if quote != "'", (quote == nil ? "|&;<>()$`*?[#~\n" : "$`").contains(character) {
                return nil
            } else {
                word = (word ?? "") + String(character)
            }
        }
        guard quote == nil, !isEscaped else { return nil }
        if let word { words.append(word) }
        return words
    }
}
