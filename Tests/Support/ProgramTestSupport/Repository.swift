package import Foundation

/// The places of the sources and of the built program.
package enum Repository {
    package static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    /// The folder the tests were built into, which holds the program as well.
    package static var products: URL {
        // The test bundle, or the test runner's helper inside it, stands beside the program.
        var folder = URL(filePath: CommandLine.arguments[0]).resolvingSymlinksInPath().deletingLastPathComponent()
        while folder.path != "/", !FileManager.default.isExecutableFile(atPath: folder.appending(path: "remint").path) {
            folder.deleteLastPathComponent()
        }
        return folder.path == "/" ? root.appending(path: ".build/debug") : folder
    }

    /// The program: the one `REMINT_TEST_PROGRAM` names, or else the one beside the tests.
    package static var remint: String {
        ProcessInfo.processInfo.environment["REMINT_TEST_PROGRAM"].map { URL(filePath: $0).path }
            ?? products.appending(path: "remint").path
    }

    /// The program of measurements, beside the tests.
    package static var bench: String { products.appending(path: "remint-bench").path }

    /// The program of the example package, beside the tests.
    package static var example: String { products.appending(path: "example-remint").path }

    /// Every file below `folder` with this ending.
    package static func files(under folder: String, ending: String) -> [URL] {
        let base = root.appending(path: folder)
        let found = FileManager.default.enumerator(at: base, includingPropertiesForKeys: nil)?.compactMap { $0 as? URL }
        return (found ?? []).filter { $0.pathExtension == ending && !$0.path.contains("/.build/") }
    }
}

/// A folder that is gone when the test is.
package struct TemporaryFolder: ~Copyable {
    package let url: URL

    package init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "remint-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }
}
