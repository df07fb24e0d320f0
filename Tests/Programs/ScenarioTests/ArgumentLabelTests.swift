import Foundation
import ProgramTestSupport
import Testing

@Suite("Argument labels")
struct ArgumentLabelTests {
    /// The most arguments without a label that a reader can distinguish at a call.
    private static let most = 5

    @Test func `no function has more than five parameters without labels`() throws {
        for file in Repository.files(under: "Sources", ending: "swift")
            + Repository.files(under: "adapters", ending: "swift")
        {
            let text = try String(contentsOf: file, encoding: .utf8)
            for name in Self.crowded(text) {
                Issue.record("\(name) in \(file.lastPathComponent): give parameters labels, or group them in a type")
            }
        }
    }

    @Test func `a crowded function is found behind parameters with closures and defaults`() {
        let text =
            "func crowd(\n_ a: (Int, Int) -> Void, _ b: [Int] = [1, 2], _ c: Int, _ d: Int, _ e: Int, _ f: Int) {}"
        #expect(Self.crowded(text) == ["crowd"])
        #expect(Self.crowded(text.replacing("_ f", with: "f")) == [])
    }

    /// The functions in `text` with too many parameters without labels.
    private static func crowded(_ text: String) -> [String] {
        text.matches(of: /\b(?:func\s+([A-Za-z0-9_`]+)(?:<[^>(]*>)?|(init)[?!]?)\s*\(/).compactMap { match in
            let count = parameters(text[match.range.upperBound...]).count {
                $0.trimmingCharacters(in: .whitespacesAndNewlines).hasPrefix("_ ")
            }
            return count > most ? String(match.1 ?? match.2 ?? "") : nil
        }
    }

    /// The parameters in `text`, up to the bracket that closes them.
    private static func parameters(_ text: Substring) -> [Substring] {
        var depth = 0
        var start = text.startIndex
        var found: [Substring] = []
        for index in text.indices {
            switch text[index] {
            case "(", "[", "{": depth += 1
            case ")" where depth == 0: return found + [text[start..<index]]
            case ")", "]", "}": depth -= 1
            case "," where depth == 0:
                found.append(text[start..<index])
                start = text.index(after: index)
            default: break
            }
        }
        return found
    }
}
