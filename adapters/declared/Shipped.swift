import Foundation

/// The files of vendors that come with the program: beside the program, where the build places them, or where a package
/// installs them, in `share/remint` beside the program's `bin`.
public enum ShippedFiles {
    /// The vendors' names, in the order of the alphabet.
    public static let names: [String] = {
        guard let folder, let files = try? FileManager.default.contentsOfDirectory(atPath: folder.path) else {
            return []
        }
        return files.filter { $0.hasSuffix(".yaml") }.map { String($0.dropLast(5)) }.sorted()
    }()

    /// The file of the vendor `name`; nil where there is none.
    public static func text(of name: String) -> String? {
        guard names.contains(name) else { return nil }
        return folder.flatMap { try? String(contentsOf: $0.appending(path: "\(name).yaml"), encoding: .utf8) }
    }

    /// The folder of the files; nil where the program was moved without them.
    private static let folder: URL? = {
        let program = Bundle.main.executableURL?.resolvingSymlinksInPath().deletingLastPathComponent()
        let installed = program?.deletingLastPathComponent().appending(path: "share/remint")
        return [program, Bundle.main.bundleURL, installed].compactMap {
            $0?.appending(path: "remint_ShippedVendors.resources")
        }.first { FileManager.default.fileExists(atPath: $0.path) }
    }()
}
