import Foundation
import ProgramTestSupport
import Testing

extension Scenarios {
    /// Each type of record has one reader, and each id one check: whoever reads a record or an id otherwise is found here.
    @Suite struct ReaderTests {
        /// A string of the sources, and the only files that may hold it.
        struct Border: CustomTestStringConvertible, Sendable {
            let pattern: String
            let files: Set<String>
            var testDescription: String { pattern }
        }

        private static let tokens: Set<String> = [
            // The reader, the writer, and a bench that writes what a worker would.
            "Sources/Rules/Pipeline/Mint/TokenRecord.swift", "Sources/Rules/Pipeline/Mint/Draft.swift",
            "Sources/Programs/remint-bench/BenchLedger.swift",
        ]

        private static let hops: Set<String> = [
            "Sources/Rules/Pipeline/Records/HopHeaders.swift", "Sources/Rules/Pipeline/Settle/DeadLetter.swift",
            "Sources/Rules/Pipeline/Settle/RetryPolicy.swift",
        ]

        static let borders: [Border] = [
            Border(
                pattern:
                    #""remint-(version|expires-at|key-id|seal|reported-at)"|"remint\.token\.replaced\.v1""#,
                files: tokens),
            Border(
                pattern:
                    #"HopHeaders\.(code|stage|detail|attempts|size|history|firstFailedAt|notBefore|offset|partition)\b"#,
                files: hops),
            Border(pattern: #""remint-(error|origin)-"#, files: ["Sources/Rules/Pipeline/Records/HopHeaders.swift"]),
            Border(
                pattern: #"(ControlRecord|LaneRecord|RefusalRecord)\(\s*key:"#,
                files: ["Sources/Rules/Pipeline/Control/ControlWord.swift"]),
            Border(
                // An offset is the broker's word, and the last one there is has none behind it.
                pattern: #"\boffset \+ 1\b"#,
                files: [
                    "Sources/Base/Records/RecordPosition.swift", "Sources/Rules/DeclaredAdapters/Pages/DocsPage.swift",
                ]),
            Border(pattern: #"remint-version="#, files: ["Sources/Services/Worker/Committing/CommitMetadata.swift"]),
            Border(
                // The other callers of an adapter: the conformance tests, and the signer's policy, which reads a token back.
                pattern: #"\.vouchedUser\(|\.vouchedUser\)|\.subject\(reissuing:|\.read\(Report\("#,
                files: [
                    "Sources/Rules/AdapterKit/Contract/TokenTemplate.swift",
                    "Sources/Testing/AdapterTestKit/AdapterConformance.swift",
                    "Sources/Testing/AdapterTestKit/AdapterFixtures.swift",
                ]),
        ]

        @Test(arguments: borders) func `only the one reader of a record decodes its headers`(_ border: Border) throws {
            let pattern = try Regex(border.pattern)
            var found: Set<String> = []
            for file in Repository.files(under: "Sources", ending: "swift") {
                let text = try String(contentsOf: file, encoding: .utf8)
                // Comments may name them.
                let code = text.split(separator: "\n").filter { !$0.drop { $0 == " " }.hasPrefix("//") }
                guard code.contains(where: { $0.contains(pattern) }) else { continue }
                found.insert(String(file.path.dropFirst(Repository.root.path.count + 1)))
            }
            #expect(found.subtracting(border.files) == [])
            #expect(border.files.subtracting(found) == [], "a border without its file finds nothing")
        }
    }
}
