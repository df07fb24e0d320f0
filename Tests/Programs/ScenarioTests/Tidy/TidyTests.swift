import Foundation
import ProgramTestSupport
import Testing

extension Scenarios {
    /// The rules of language and size, checked over all files of the repository.
    @Suite struct TidyTests {
        private static let swiftFiles = ["Sources", "Tests", "adapters"].flatMap {
            Repository.files(under: $0, ending: "swift")
        }

        private static let prose = Result {
            try swiftFiles.map { try Prose(swift: String(contentsOf: $0, encoding: .utf8), path: path($0)) }
        }

        private static func path(_ file: URL) -> String {
            String(file.path.dropFirst(Repository.root.path.count).drop { $0 == "/" })
        }

        /// The pages, the alerts and the sample configurations. Schema and OpenAPI page come from strings of the program.
        private static func readPages() throws -> [Prose] {
            let files = ["Sources", "Tests", "adapters", "config", ".github"].flatMap { folder in
                ["md", "yaml", "yml"].flatMap { Repository.files(under: folder, ending: $0) }
            }
            return try (files + [Repository.root.appending(path: "README.md")])
                .filter { !$0.path.contains("/Fixtures/") && !$0.path.contains("/Tests/Benchmarks/.") }
                .map { Prose(page: try String(contentsOf: $0, encoding: .utf8), path: path($0)) }
        }

        private func expectNone(_ findings: [Prose.Finding]) {
            #expect(findings.isEmpty, "\(findings.map(\.text).joined(separator: "\n"))")
        }

        @Test func `the prose of the repository is plain American English`() throws {
            let rules = try TidyRules(TidyWords.all)
            // The rules themselves have to name the words.
            let prose = try (Self.prose.get() + Self.readPages()).filter { !$0.path.contains("/Tidy/") }
            #expect(prose.count > 500)
            expectNone(
                prose.flatMap { $0.findings(of: rules) }.filter { finding in
                    !TidyWords.exceptions.contains {
                        $0.rule == finding.rule.pattern && finding.excerpt.contains($0.line)
                    }
                })
        }

        @Test func `a count has a noun in the right number`() throws {
            let rules = try TidyRules([TidyWords.count])
            expectNone(try Self.prose.get().flatMap { $0.findings(of: rules, in: $0.programStrings) })
        }

        @Test func `the exceptions are few and have reasons`() {
            #expect(TidyWords.exceptions.count <= 20)
            #expect(TidyWords.exceptions.allSatisfy { !$0.reason.isEmpty })
        }

        @Test func `a doc comment begins with a noun or a verb, and the name of a test has a subject`() throws {
            let places = try Self.prose.get().flatMap { prose in
                prose.passages.filter(hasBadOpening).map { "\(prose.path):\($0.line): \(prose.lines[$0.line - 1])" }
            }
            #expect(places.isEmpty, "\(places.joined(separator: "\n"))")
        }

        @Test func `files are short`() throws {
            let long = try Self.prose.get().filter { $0.lines.count > 501 }.map(\.path)
            #expect(long.isEmpty, "split them by subject: \(long)")
        }

        /// The bounds of files and lines. A number may only fall: whoever raises one says in the commit what the product gets
        /// for it.
        @Test(arguments: [("Sources/", 660, 88_600), ("adapters/", 84, 7_610), ("Tests/", 675, 72_500)])
        func `the code does not grow`(_ folder: String, _ files: Int, _ lines: Int) throws {
            let own = try Self.prose.get().filter { $0.path.hasPrefix(folder) }
            let count = own.reduce(0) { $0 + $1.lines.count - 1 }
            #expect(own.count <= files && count <= lines, "\(own.count) files, \(count) lines")
        }

        @Test func `names of files and types have a meaning`() throws {
            for file in Self.swiftFiles {
                #expect(
                    !isVague(file.deletingPathExtension().lastPathComponent), "\(Self.path(file)): name its subject")
            }
        }

        @Test func `no file has marks of an unfinished merge`() throws {
            let marks = ["<", "|", ">"].map { String(repeating: $0, count: 7) + " " }
            for ending in ["swift", "md", "yaml", "yml", "json", "py", "sh", "js", "html", "css"] {
                for folder in ["Sources", "Tests", "adapters", "config"] {
                    for file in Repository.files(under: folder, ending: ending)
                    where !file.path.contains("/Tests/Benchmarks/.") {
                        let lines = String(decoding: try Data(contentsOf: file), as: UTF8.self).split(separator: "\n")
                        let marked = lines.first { line in marks.contains { line.hasPrefix($0) } }
                        #expect(marked == nil, "\(Self.path(file)): choose one side")
                    }
                }
            }
        }

        @Test func `a promise about threads has its reason beside it`() throws {
            for file in Self.swiftFiles
            where !file.path.contains("/Tidy/") && !file.path.contains("/Tests/Benchmarks/.") {
                let places = unexplained(in: String(decoding: try Data(contentsOf: file), as: UTF8.self))
                #expect(places.isEmpty, "\(Self.path(file)): write the invariant into the doc comment: \(places)")
            }
        }

        @Test func `a promise about threads without its reason is found`() {
            #expect(unexplained(in: "/// A box.\nfinal class A: @unchecked Sendable {}").count == 1)
            #expect(unexplained(in: "/// A box.\n@safe\nnonisolated(unsafe) let a = 1").count == 1)
            let reason =
                "/// A box.\n///\n/// `@unchecked Sendable`: never changed.\n@safe\nfinal class A: @unchecked Sendable {}"
            #expect(unexplained(in: reason).isEmpty)
            #expect(unexplained(in: reason + "\nfinal class B: @unchecked Sendable {}").count == 1)
        }

        // MARK: Rules about places

        /// Returns the declarations whose comment does not name the invariant that replaces the compiler's check.
        private func unexplained(in text: String) -> [Substring] {
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
            func content(_ line: Substring) -> Substring { line.drop { $0 == " " } }
            return lines.indices.filter { index in
                guard !content(lines[index]).hasPrefix("//") else { return false }
                return ["@unchecked Sendable", "nonisolated(unsafe)"].contains { promise in
                    guard lines[index].contains(promise) else { return false }
                    let above = lines[..<index].reversed().prefix {
                        content($0).hasPrefix("//") || content($0).hasPrefix("@")
                    }
                    return !above.contains { $0.contains("`\(promise)`:") }
                }
            }.map { content(lines[$0]) }
        }

        private func hasBadOpening(_ passage: Prose.Passage) -> Bool {
            switch passage.kind {
            case .documentation: Self.questions.contains(String(passage.firstWord))
            case .name: Self.verbs.contains(passage.firstWord.lowercased())
            case .string, .page: false
            }
        }

        private static let questions: Set = [
            "What", "How", "Whom", "Whose", "Where", "When", "Who", "Which", "Why", "So", "That",
        ]

        private static let verbs: Set = [
            "is", "are", "was", "were", "has", "have", "had", "does", "do", "did", "can", "cannot", "may", "must",
            "will",
            "would", "what", "who", "whom", "whose", "which", "how", "where", "when", "why", "and", "or", "but", "not",
            "so", "that", "then", "gets", "goes", "comes", "takes", "says", "refuses", "returns", "it", "they",
            "others",
        ]

        private func isVague(_ name: String) -> Bool {
            name.contains(/(Utils?|Utilities|Manager|Helpers?)(\+|$)/)
        }

        // MARK: The rules themselves

        private func swift(_ text: String) throws -> Prose { try Prose(swift: text, path: "Sources/A/B.swift") }

        private func found(_ text: String) throws -> [String] {
            try swift(text).findings(of: TidyRules(TidyWords.all)).map(\.place)
        }

        @Test(arguments: [
            "somebody mends it", "so many events", "it stands in a file", "his patience is 5 s", "a text of 5 bytes",
            "bad behaviour", "an organised list", "2 event(s)", "SEE BELOW", "the session ended",
        ])
        func `a word to avoid is found in strings, doc comments, names and pages`(_ words: String) throws {
            #expect(try found("\nlet a = \"\(words)\"") == ["Sources/A/B.swift:2"])
            #expect(try found("\n/// The \(words).\nlet a = 1") == ["Sources/A/B.swift:2"])
            #expect(try found("func `\(words)`() {}") == ["Sources/A/B.swift:1"])
            let page = Prose(page: "# Page\n\n\(words)\n", path: "README.md")
            #expect(try page.findings(of: TidyRules(TidyWords.all)).map(\.place) == ["README.md:3"])
        }

        @Test(arguments: [
            ("/// Knows so\n    /// many words.\nlet a = 1", 1), (##"let a = "x \(b["a", "mend"]) is anew""##, 1),
            (##"let a = #"a "quote" anew"#"##, 1), ("let a = \"\"\"\n    first\n    read anew\n    \"\"\"", 1),
            ("let whom = desk.tells(\"patience\") // as said", 0), ("let anew = 1 // \"mends it\"", 0),
            ("/// Calls `ended`, as `a patience`.\nlet a = 1", 1),
        ])
        func `prose is found across lines and in every kind of string, and code is none`(_ text: String, _ count: Int)
            throws
        {
            #expect(try found(text).count == count)
        }

        @Test(arguments: [
            (##""\(count) events were sent""##, 1), (##""sent: \(a + b) canary tokens""##, 1),
            (##""\(sent) of \(users.count) users""##, 1), (##"count + " rows of the file""##, 1),
            (##""\(count.of("event")) sent""##, 0), (##""longer than \(Self.limit) bytes""##, 0),
            (##""the vendor \(name) reports users""##, 0), (##""bulk=\(topic) tokens=\(other)""##, 0),
            ("\"\"\"\n    events wait\n    \"\"\"", 0),
        ])
        func `a count with a fixed plural is found`(_ string: String, _ count: Int) throws {
            #expect(try swift("let a = \(string)").findings(of: TidyRules([TidyWords.count])).count == count)
        }

        @Test(arguments: [
            ("let a = 1\n/// What a holds,\n/// How it does.\nlet b = 1", 1),
            ("/// Whether it holds,\n/// Which.\nlet b = 1", 0),
            ("/// One.\nlet a = 1\n/// So is b.\nlet b = 1", 1), ("@Test func `is refused`() {}", 1),
            ("@Test func `a token is refused`() {}; let `is` = 1", 0),
        ])
        func `an opening without a subject is found`(_ text: String, _ count: Int) throws {
            #expect(try swift(text).passages.count(where: hasBadOpening) == count)
        }

        @Test func `a vague name is found`() {
            for name in ["TokenUtils", "KeyManager", "Helpers", "RingHelper+Files"] { #expect(isVague(name)) }
            #expect(!isVague("RingManagerial"))
        }
    }
}
