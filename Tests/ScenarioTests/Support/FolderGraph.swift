import Foundation
import ProgramTestSupport

/// Which folders of a module use types of which others, as far as their words say.
struct FolderGraph {
    private var uses: [String: Set<String>] = [:]

    /// The folders of `module`.
    init(of module: String) throws {
        let root = Repository.root.appending(path: "Sources/\(module)").path
        var texts: [String: [String]] = [:]
        for file in Repository.files(under: "Sources/\(module)", ending: "swift") {
            let path = file.path.dropFirst(root.count + 1).split(separator: "/")
            let folder = path.count > 1 ? String(path[0]) : ""
            texts[folder, default: []].append(try String(contentsOf: file, encoding: .utf8))
        }
        self.init(texts: texts)
    }

    /// Folders with the texts of their files; the empty name is the module's own folder.
    init(texts: [String: [String]]) {
        let code = texts.mapValues { $0.map(Self.code) }
        let declaration =
            /(?m)^(?:(?:public|package|final|indirect|@[A-Za-z]+) )*(?:struct|class|enum|actor|protocol|typealias) ([A-Z][A-Za-z0-9]*)/
        var homes: [String: String] = [:]
        for (folder, files) in code {
            for match in files.flatMap({ $0.matches(of: declaration) }) { homes[String(match.1)] = folder }
        }
        for (folder, files) in code where !folder.isEmpty {
            let words = files.flatMap { $0.matches(of: /\b[A-Z][A-Za-z0-9]*/).map { String($0.0) } }
            uses[folder] = Set(words.compactMap { homes[$0] }).subtracting([folder])
        }
    }

    /// The text without what stands in quotes and in comments.
    private static func code(_ text: String) -> String {
        text.replacing(/"(?:\\.|[^"\\\n])*"/, with: "").replacing(/\/\/[^\n]*/, with: "")
    }

    /// Folders that reach themselves, in the order of their names; none where there is no circle.
    var circle: [String] { uses.keys.filter { reach($0).contains($0) }.sorted() }

    private func reach(_ folder: String) -> Set<String> {
        var found: Set<String> = []
        var open = [folder]
        while let next = open.popLast() {
            for used in uses[next] ?? [] where found.insert(used).inserted { open.append(used) }
        }
        return found
    }
}
