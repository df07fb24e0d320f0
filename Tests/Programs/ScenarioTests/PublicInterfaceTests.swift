import Foundation
import ProgramTestSupport
import Testing

extension Scenarios {
    /// The public declarations that adapters outside of this repository are written against, beside their record in
    /// `config/api`.
    ///
    /// `REMINT_WRITE_API=1` writes the record again. A changed line is a major version, a new line a minor one.
    @Suite struct PublicInterfaceTests {
        private static let isWriting = ProcessInfo.processInfo.environment["REMINT_WRITE_API"] == "1"

        @Test(arguments: ["AdapterKit", "AdapterStubs", "AdapterTestKit"])
        func `the public declarations of a module are recorded`(_ module: String) async throws {
            let found = try await Self.declarations(of: module)
            #expect(found.count > 10)
            let file = Repository.root.appending(path: "config/api/\(module).txt")
            if Self.isWriting { try Data((found.joined(separator: "\n") + "\n").utf8).write(to: file) }
            let recorded = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map(String.init)
            let missing = recorded.filter { !found.contains($0) }, new = found.filter { !recorded.contains($0) }
            #expect(
                missing.isEmpty && new.isEmpty,
                """
                Removed or changed: \(missing)
                New: \(new)
                If that is intended, write config/CHANGELOG.md and run REMINT_WRITE_API=1 swift test --filter PublicInterface
                """)
        }

        /// Returns the public declarations of `module`, sorted: the path of each, and the declaration as the compiler prints it.
        private static func declarations(of module: String) async throws -> [String] {
            let folder = try TemporaryFolder()
            // The folder of the products is named after the kind of build, the one around it after the target.
            let products = Repository.products.resolvingSymlinksInPath()
            let modules = products.appending(path: "Modules").path
            let library = Repository.root.appending(path: "Sources/Base/COpenSSL/module.modulemap").path
            let extract = try await Program.run(
                "swift",
                [
                    "symbolgraph-extract", "-module-name", module, "-I", modules,
                    "-target", products.deletingLastPathComponent().lastPathComponent,
                    "-Xcc", "-fmodule-map-file=\(library)", "-minimum-access-level", "public",
                    "-skip-synthesized-members", "-output-dir", folder.url.path,
                ])
            try #require(extract.status == 0, "\(extract.errorText)")
            var found: Set<String> = []
            for file in try FileManager.default.contentsOfDirectory(at: folder.url, includingPropertiesForKeys: nil) {
                let graph = try JSONDecoder().decode(Graph.self, from: Data(contentsOf: file))
                found.formUnion(graph.symbols.map(\.line))
            }
            return found.sorted()
        }

        /// The part of a symbol graph that is recorded.
        private struct Graph: Decodable {
            struct Symbol: Decodable {
                struct Fragment: Decodable { let spelling: String }

                let pathComponents: [String]
                let declarationFragments: [Fragment]

                var line: String {
                    let declaration = declarationFragments.map(\.spelling).joined()
                        .split(whereSeparator: \.isWhitespace).joined(separator: " ")
                    return "\(pathComponents.joined(separator: ".")): \(declaration)"
                }
            }

            let symbols: [Symbol]
        }
    }
}
