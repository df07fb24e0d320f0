import Foundation
import ProgramTestSupport

/// The log lines of the sources: each call's level and the messages that it may write.
struct LogLines {
    /// A message with a level that it is written at.
    struct Line: Hashable {
        let level: String
        let message: String
    }

    private(set) var lines: Set<Line> = []

    /// Reads every Swift file under `folder`.
    init(under folder: String) throws {
        for file in Repository.files(under: folder, ending: "swift") {
            add(from: try String(contentsOf: file, encoding: .utf8))
        }
    }

    /// The lines of one text.
    init(text: String) { add(from: text) }

    private mutating func add(from text: String) {
        for call in text.matches(of: /(?:logger|log)\.(trace|debug|info|notice|warning|error|critical)\(/) {
            for message in Self.literals(text[call.range.upperBound...]) {
                lines.insert(Line(level: String(call.1), message: message))
            }
        }
    }

    /// The texts in a call's first argument, which may be a choice between two.
    private static func literals(_ rest: Substring) -> [String] {
        var found: [String] = []
        var literal: String?
        var depth = 0
        for character in rest {
            if let begun = literal {
                if character == "\"" { found.append(begun) }
                literal = character == "\"" ? nil : begun + String(character)
                continue
            }
            switch character {
            case "\"": literal = ""
            case "(", "[": depth += 1
            case ")", "]": depth -= 1
            default: break
            }
            // The end of the argument, or of the call.
            if depth < 0 || (character == "," && depth == 0) { break }
        }
        return found
    }
}
