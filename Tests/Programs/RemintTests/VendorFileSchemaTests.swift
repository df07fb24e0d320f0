import CommandTestSupport
import Foundation
import ProgramTestSupport
import Testing

/// The schema of vendors' files, which is made of the keys' declarations.
@Suite struct VendorFileSchemaTests {
    private static let folder = "Sources/Rules/DeclaredAdapters"

    /// The keys that the declarations in `Keys` have, each with the name of its table.
    private func declarations() throws -> [(table: String, key: String, text: String)] {
        try Repository.files(under: "\(Self.folder)/Keys", ending: "swift")
            .filter { $0.lastPathComponent.hasPrefix("FileKeys") }.flatMap { file in
                let text = try String(contentsOf: file, encoding: .utf8)
                var table = ""
                return text.split(separator: "\n").compactMap { line -> (table: String, key: String, text: String)? in
                    if let match = line.firstMatch(of: /enum (\w+) \{/) { table = String(match.1) }
                    let declaration = /static let (\w+)(?:: FileKey<[\w.]+>)? = (?:FileKey|\.choice)/
                    return line.firstMatch(of: declaration).map { (table, String($0.1), text) }
                }
            }
    }

    @Test func `each declared key is read, and in the schema`() throws {
        let readers = try Repository.files(under: "\(Self.folder)/Reading", ending: "swift").map {
            try String(contentsOf: $0, encoding: .utf8)
        }.joined()
        let keys = try declarations()
        #expect(keys.count > 100)
        for key in keys {
            let name = "\(key.table).\(key.key)"
            #expect(readers.contains(name), "no reader reads \(name), and the schema offers it")
            // The functions of claims are values of a token, which the schema leaves to the linter.
            let lists = key.text.matches(of: /\.of\(([^)]*)\)|(\w+)\.description/)
            let isListed =
                key.table == "Function"
                || lists.contains { ($0.1 ?? $0.2 ?? "").split { !$0.isLetter }.contains { $0 == key.key } }
            #expect(isListed, "\(name) is in no table, and the schema refuses it")
        }
    }

    @Test(.enabled(if: JSONSchemaModule.isInstalled, JSONSchemaModule.isMissing), .timeLimit(.minutes(5)))
    func `the schema accepts every vendor's file, and refuses what the reader refuses`() async throws {
        let folder = try TemporaryFolder()
        let schema = folder.url.appending(path: "schema.json")
        let printed = try await Command.remint(["adapter", "schema"])
        try printed.standardOutput.write(to: schema)
        let good =
            (Repository.files(under: "adapters/declared", ending: "yaml")
            + Repository.files(under: "Tests/Rules/DeclaredAdaptersTests/Rules", ending: "yaml")).map(\.path)
        let rules = try String(
            contentsOf: Repository.root.appending(path: "adapters/declared/ably.yaml"), encoding: .utf8)
        let mistakes = [
            (/(?m)^vendor: .*$/, ""), (/(?m)^report:$/, "report:\n  usr: x"), (/(?m)^token:$/, "token:\n  claim: {}"),
            (/(?m)^codes:$/, "codes:\n  - { name: X, evidence: keys, remedy: mint }"),
            (/(?m)^codes:$/, "codes:\n  - { name: X, evidence: key, remedy: mind }"),
            (/(?m)^codes:$/, "codes:\n  - { name: X, evidence: key, remedy: mint, match: { cod: 1 } }"),
            (/(?m)^device:/, "loop: { tokens: 11 }\ndevice:"), (/(?m)^tests:$/, "tests:\n  nw: 0"),
        ]
        var broken: [String] = []
        for (index, (place, mistake)) in mistakes.enumerated() {
            let text = rules.replacing(place, with: mistake, maxReplacements: 1)
            try #require(text != rules, "mistake \(index)")
            let file = folder.url.appending(path: "broken-\(index).yaml")
            try Data(text.utf8).write(to: file)
            let lint = try await Command.remint(["adapter", "lint", file.path])
            #expect(lint.status == 1, "mistake \(index)")
            broken.append(file.path)
        }
        let answers = try await JSONSchemaModule.validate(good + broken, by: schema.path)
        #expect(good.count >= 12)
        for path in good { #expect(answers[path] == "accepts", "\(path)") }
        for path in broken { #expect(answers[path] == "refuses", "\(path)") }
    }
}
