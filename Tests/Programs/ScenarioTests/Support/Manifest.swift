import Foundation
import ProgramTestSupport
import Testing

/// The package's manifest, as the package manager reads it.
struct Manifest: Decodable, Sendable {
    struct Target: Decodable, Sendable {
        let name: String
        /// `regular`, `executable`, `test` or `system`.
        let type: String
        let path: String
        let dependencies: [Dependency]

        /// The name of the layer: a folder of `Sources`; nil for a target that is elsewhere.
        var layer: String? {
            let parts = path.split(separator: "/")
            return parts.first == "Sources" && parts.count == 3 ? String(parts[1]) : nil
        }
        /// The names of the modules and of other packages' products that the target rests on.
        var uses: Set<String> { Set(dependencies.map(\.name)) }
    }

    /// A dependency of a target, by name or as a product of another package.
    struct Dependency: Decodable, Sendable {
        let name: String

        /// Reads the name: the first element of the only list, as in `{"byName": ["Kafka", null]}`.
        init(from decoder: any Decoder) throws {
            let lists = try decoder.singleValueContainer().decode([String: [Element]].self)
            name = try #require(lists.values.first?.first?.text)
        }

        private struct Element: Decodable {
            let text: String?

            init(from decoder: any Decoder) throws { text = try? decoder.singleValueContainer().decode(String.self) }
        }
    }

    let targets: [Target]

    /// The modules in `Sources` that are written in Swift.
    var modules: [Target] { targets.filter { $0.layer != nil && $0.type != "system" && $0.name != "CBuild" } }

    /// The modules of the package that `module` rests on, itself among them.
    func reach(of module: String) -> Set<String> {
        let uses = Dictionary(uniqueKeysWithValues: targets.map { ($0.name, $0.uses) })
        var found: Set<String> = [module]
        var open = [module]
        while let next = open.popLast() {
            for used in uses[next] ?? [] where uses[used] != nil && found.insert(used).inserted { open.append(used) }
        }
        return found
    }

    /// Returns the manifest of the package in `folder`, as JSON.
    static func json(of folder: URL) async throws -> Data {
        let scratch = try TemporaryFolder()
        let dump = try await Program.run(
            "swift", ["package", "dump-package", "--package-path", folder.path, "--scratch-path", scratch.url.path])
        try #require(dump.status == 0, "\(dump.errorText)")
        return Data(dump.outputText.utf8)
    }

    private static let read = Task {
        try JSONDecoder().decode(Manifest.self, from: try await json(of: Repository.root))
    }

    static var current: Manifest { get async throws { try await read.value } }
}
