import Foundation
import ProgramTestSupport

/// The log lines of the sources: each call's id, level and message. A call may choose between several.
struct LogLines {
    /// An id with its message and a level that it is written at.
    struct Line: Hashable {
        let event: String
        let level: String
        let message: String
    }

    private(set) var lines: Set<Line> = []
    /// The ids of calls whose level is no constant.
    private(set) var relayed: Set<String> = []
    /// The messages of calls without an id.
    private(set) var withoutEvent: Set<String> = []

    /// The ids with several messages, and the messages with several ids.
    var ambiguous: [String] {
        let pairs = Set(lines.map { [$0.event, $0.message] })
        return [0, 1].flatMap { column in
            Dictionary(grouping: pairs) { $0[column] }.filter { $0.value.count > 1 }.keys.sorted()
        }
    }

    /// Reads every Swift file under `folder`.
    init(under folder: String) throws {
        for file in Repository.files(under: folder, ending: "swift") {
            add(from: try String(contentsOf: file, encoding: .utf8))
        }
    }

    init(text: String) { add(from: text) }

    private mutating func add(from text: String) {
        for call in text.matches(of: /[lL]ogger\.(log|trace|debug|info|notice|warning|error|critical)\(/) {
            let arguments = Self.arguments(text[call.range.upperBound...])
            let first = Self.literals(arguments[0]), second = arguments.dropFirst().first.map(Self.literals) ?? []
            if call.1 == "log" {
                let event = arguments.joined(separator: ",").firstMatch(of: /"remint\.event": "([^"]+)"/)?.1
                if let event { relayed.insert(String(event)) } else { withoutEvent.formUnion(second) }
            } else if first.count == second.count, first.allSatisfy({ $0.wholeMatch(of: Self.form) != nil }) {
                for (event, message) in zip(first, second) {
                    lines.insert(Line(event: event, level: String(call.1), message: message))
                }
            } else {
                withoutEvent.formUnion(first)
            }
        }
    }

    /// Two or three parts: `worker.consuming`, `key-ring.changed`.
    private static var form: Regex<Substring> { /[a-z]+(?:-[a-z]+)*(?:\.[a-z]+(?:-[a-z]+)*){1,2}/ }

    private static func literals(_ argument: String) -> [String] {
        argument.matches(of: /"([^"]*)"/).map { String($0.1) }
    }

    /// The arguments of a call, up to the bracket that closes it.
    private static func arguments(_ rest: Substring) -> [String] {
        var found = [""]
        var isInString = false
        var depth = 0
        for character in rest {
            if character == "\"" { isInString.toggle() }
            if !isInString {
                switch character {
                case "(", "[", "{": depth += 1
                case ")", "]", "}": depth -= 1
                default: break
                }
                if depth < 0 { break }
                if character == ",", depth == 0 {
                    found.append("")
                    continue
                }
            }
            found[found.count - 1].append(character)
        }
        return found
    }
}
