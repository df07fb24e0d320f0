import Foundation
import ProgramTestSupport

/// The uses of types between the folders of a module, as far as their words show them. A file in the module's own folder
/// counts as a folder of its own.
struct FolderGraph {
    private var uses: [String: Set<String>] = [:]
    private let folders: Set<String>

    /// The folders of the module in `folder`, and the files beside them.
    init(of folder: String) throws {
        let root = Repository.root.appending(path: folder).path
        var texts: [String: [String]] = [:], files: [String: String] = [:]
        for file in Repository.files(under: folder, ending: "swift") {
            let path = file.path.dropFirst(root.count + 1).split(separator: "/")
            let text = try String(contentsOf: file, encoding: .utf8)
            if path.count > 1 {
                texts[String(path[0]), default: []].append(text)
            } else {
                files[String(path[0])] = text
            }
        }
        self.init(texts: texts, files: files)
    }

    /// Folders with the texts of their files, and the files beside the folders.
    init(texts: [String: [String]], files: [String: String] = [:]) {
        folders = Set(texts.keys)
        let all = texts.merging(files.mapValues { [$0] }) { folder, _ in folder }
        let code = all.mapValues { $0.map(Self.code) }
        let declaration =
            /(?m)^(?:(?:public|package|final|indirect|@[A-Za-z]+) )*(?:struct|class|enum|actor|protocol|typealias) ([A-Z][A-Za-z0-9]*)/
        var homes: [String: String] = [:]
        for (folder, files) in code {
            for match in files.flatMap({ $0.matches(of: declaration) }) { homes[String(match.1)] = folder }
        }
        for (folder, files) in code {
            let words = files.flatMap { $0.matches(of: /\b[A-Z][A-Za-z0-9]*/).map { String($0.0) } }
            uses[folder] = Set(words.compactMap { homes[$0] }).subtracting([folder])
        }
    }

    /// The source without the contents of quotes and comments.
    private static func code(_ text: String) -> String {
        text.replacing(/"(?:\\.|[^"\\\n])*"/, with: "").replacing(/\/\/[^\n]*/, with: "")
    }

    /// The folders and files on a circle that leads through a folder, in the order of their names. Files in one place may
    /// use each other.
    var circle: [String] {
        let reached = Dictionary(uniqueKeysWithValues: uses.keys.map { ($0, reach($0)) })
        return uses.keys.filter { place in
            folders.contains { folder in
                reached[place]?.contains(folder) == true && reached[folder]?.contains(place) == true
            }
        }.sorted()
    }

    private func reach(_ folder: String) -> Set<String> {
        var found: Set<String> = []
        var open = [folder]
        while let next = open.popLast() {
            for used in uses[next] ?? [] where found.insert(used).inserted { open.append(used) }
        }
        return found
    }
}
