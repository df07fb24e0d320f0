import Foundation
import ProgramTestSupport
import Testing

extension Scenarios {
    /// The rules of language and size, checked over all files of the repository.
    @Suite struct TidyTests {
        private static let swiftFiles = ["Sources", "Tests", "adapters"].flatMap {
            Repository.files(under: $0, ending: "swift")
        }

        private static let prose = Result { try readSwift() }

        private static func path(_ file: URL) -> String {
            String(file.path.dropFirst(Repository.root.path.count).drop { $0 == "/" })
        }

        private static func readSwift() throws -> [Prose] {
            try swiftFiles.map { Prose(swift: [UInt8](try Data(contentsOf: $0)), path: path($0)) }
        }

        /// The pages, the alerts and the sample configurations. Schema and OpenAPI page come from strings of the program.
        private static func readPages() throws -> [Prose] {
            let files = ["Sources", "Tests", "adapters", "config", ".github"].flatMap { folder in
                ["md", "yaml", "yml"].flatMap { Repository.files(under: folder, ending: $0) }
            }
            return try (files + [Repository.root.appending(path: "README.md")])
                .filter { !$0.path.contains("/Fixtures/") && !$0.path.contains("/Tests/Benchmarks/.") }
                .map { Prose(page: [UInt8](try Data(contentsOf: $0)), path: path($0)) }
        }

        private static func isExcepted(_ finding: TidyRule.Finding) -> Bool {
            TidyCeilings.exceptions.contains { $0.rule == finding.rule && finding.excerpt.contains($0.line) }
        }

        @Test func `the prose of the repository is plain American English`() throws {
            let rules = try TidyRules(TidyWords.all)
            // The rules themselves have to name the words.
            let prose = try (Self.prose.get() + Self.readPages()).filter { !$0.path.contains("/Tidy/") }
            #expect(prose.count > 500)
            let findings = prose.flatMap { rules.findings(in: $0) }.filter { !Self.isExcepted($0) }
            for found in Dictionary(grouping: findings, by: { "\($0.scope.rawValue) \($0.rule)" }).values {
                Issue.record(
                    "\(found.count) in \(found[0].scope): \(found[0].rule)\n\(found.map(\.text).joined(separator: "\n"))"
                )
            }
        }

        @Test func `a count has a noun in the right number`() throws {
            let rules = try TidyRules([TidyWords.count])
            let findings = try Self.prose.get().flatMap { rules.findings(in: $0) }.filter { $0.scope == .program }
            #expect(findings.isEmpty, "\(findings.map(\.text).joined(separator: "\n"))")
        }

        @Test func `the exceptions are few and have reasons`() {
            #expect(TidyCeilings.exceptions.count <= 20)
            #expect(TidyCeilings.exceptions.allSatisfy { !$0.reason.isEmpty })
        }

        @Test func `a doc comment begins with a noun or a verb`() throws {
            let places = try Self.prose.get().flatMap(questions)
            #expect(places.count <= TidyCeilings.questions, "\(places.joined(separator: "\n"))")
        }

        @Test func `the name of a test has a subject`() throws {
            let places = try Self.prose.get().flatMap(subjectless)
            #expect(places.isEmpty, "\(places.joined(separator: "\n"))")
        }

        @Test func `files and lines are short`() throws {
            let long = try Self.prose.get().filter { $0.lineCount > 500 }.map(\.path)
            #expect(long.isEmpty, "split them by subject: \(long)")
            for prose in try Self.prose.get() {
                for offset in prose.linesLonger(than: 120) where prose.isCode(lineAt: offset) {
                    Issue.record("\(prose.path):\(prose.line(of: offset)) is too long: \(prose.excerpt(at: offset))")
                }
            }
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

        private func questions(in prose: Prose) -> [String] {
            let words = ["What", "How", "Whom", "Whose", "Where", "When", "Who", "Which", "Why", "So", "That"]
            return prose.firstWordsOfDocumentation.filter { words.contains($0.word) }.map {
                "\(prose.path):\(prose.line(of: $0.offset)): begin with a noun or a verb: \(prose.excerpt(at: $0.offset))"
            }
        }

        private func subjectless(in prose: Prose) -> [String] {
            let words: Set<String> = [
                "is", "are", "was", "were", "has", "have", "had", "does", "do", "did", "can", "cannot", "may", "must",
                "will", "would", "what", "who", "whom", "whose", "which", "how", "where", "when", "why", "and", "or",
                "but", "not", "so", "that", "then", "gets", "goes", "comes", "takes", "says", "refuses", "returns",
                "it", "they", "others",
            ]
            return prose.firstWordsOfNames.filter { words.contains($0.word.lowercased()) }.map {
                "\(prose.path):\(prose.line(of: $0.offset)): name the subject: \(prose.excerpt(at: $0.offset))"
            }
        }

        private func isVague(_ name: String) -> Bool {
            name.contains(/(Utils?|Utilities|Manager|Helpers?)(\+|$)/)
        }

        // MARK: The rules themselves

        private func swift(_ text: String) -> Prose { Prose(swift: Array(text.utf8), path: "Sources/A/B.swift") }

        private func found(_ text: String) throws -> [String] {
            try TidyRules(TidyWords.all).findings(in: swift(text)).map { "\($0.line) \($0.scope.rawValue)" }
        }

        @Test(arguments: TidyWords.all.map(\.pattern))
        func `no rule of words finds anything in plain English`(_ pattern: String) throws {
            let rules = try TidyRules(TidyWords.all.filter { $0.pattern == pattern })
            let text =
                "/// Returns the token's user, 2 events in flight, and commits.\nlet a = \"the worker commits 1 event\""
            #expect(rules.findings(in: swift(text)).isEmpty)
        }

        @Test(arguments: [
            "somebody mends it", "for whom it is", "so many events", "it stands in a file", "they let through all",
            "the worker says so", "takes a record", "found out later", "his patience is 5 s", "a desk of tokens",
            "a text of 5 bytes", "read anew", "bad behaviour", "a cancelled task", "an organised list", "2 event(s)",
            "SEE BELOW", "the session ended", "three flights",
        ])
        func `a word to avoid is found in strings, doc comments and names`(_ words: String) throws {
            #expect(try found("\nlet a = \"\(words)\"") == ["2 program"])
            #expect(try found("\n/// The \(words).\nlet a = 1") == ["2 documentation"])
            #expect(try found("func `\(words)`() {}") == ["1 program"])
            let page = Prose(page: Array("# Page\n\n\(words)\n".utf8), path: "README.md")
            #expect(try TidyRules(TidyWords.all).findings(in: page).map(\.line) == [3])
        }

        @Test func `a word to avoid is found across lines, in interpolated and raw strings`() throws {
            #expect(try found("/// Knows so\n    /// many words.\nlet a = 1") == ["1 documentation"])
            #expect(try found(##"let a = "x \(b["a", "mend"]) is anew""##) == ["1 program"])
            #expect(try found(##"let a = #"a "quote" anew"#"##) == ["1 program"])
            #expect(try found("let a = \"\"\"\n    first\n    read anew\n    \"\"\"") == ["3 program"])
        }

        @Test(arguments: [
            (##""\(count) events were sent""##, 1), (##""sent: \(a + b) canary tokens""##, 1),
            (##""\(sent) of \(users.count) users""##, 1), (##"count + " rows of the file""##, 1),
            (##""\(count.of("event")) sent""##, 0), (##""longer than \(Self.limit) bytes""##, 0),
            (##""the vendor \(name) reports users""##, 0), (##""bulk=\(topic) tokens=\(other)""##, 0),
            ("\"\"\"\n    events wait\n    \"\"\"", 0),
        ])
        func `a count with a fixed plural is found`(_ string: String, _ count: Int) throws {
            #expect(try TidyRules([TidyWords.count]).findings(in: swift("let a = \(string)")).count == count)
        }

        @Test func `code, keys, notes and code spans are no prose`() throws {
            #expect(try found("let whom = desk.tells(\"patience\") // as said") == [])
            #expect(try found("let anew = 1 // \"mends it\"") == [])
            #expect(try found("/// Calls `ended`, as `a patience`.\nlet a = 1") == ["1 documentation"])
            let page = Prose(page: Array("The key `vendor.patience` is in flight.".utf8), path: "README.md")
            #expect(try TidyRules(TidyWords.all).findings(in: page).isEmpty)
        }

        @Test func `a doc comment that begins with a question word is found`() {
            #expect(questions(in: swift("let a = 1\n/// What a holds,\n/// How it does.\nlet b = 1")).count == 1)
            #expect(questions(in: swift("/// Whether it holds,\n/// Which it does.\nlet b = 1")).isEmpty)
            #expect(questions(in: swift("/// One.\nlet a = 1\n/// So is b.\nlet b = 1")).count == 1)
        }

        @Test func `a test name without a subject is found`() {
            #expect(subjectless(in: swift("@Test func `is refused`() {}")).count == 1)
            #expect(subjectless(in: swift("@Test func `a token is refused`() {}; let `is` = 1")).isEmpty)
        }

        @Test func `a long line, a long file and a vague name are found`() {
            let long = String(repeating: "ä ", count: 61)
            #expect(swift("a\n\(long)\nb\n").linesLonger(than: 120) == [2])
            #expect(swift("a\n\(long.dropLast(2))\n").linesLonger(than: 120).isEmpty)
            #expect(swift("a\nb\n").lineCount == 2)
            for name in ["TokenUtils", "KeyManager", "Helpers", "RingHelper+Files"] { #expect(isVague(name)) }
            #expect(!isVague("RingManagerial"))
        }
    }
}
