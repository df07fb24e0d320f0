import AdapterKit
import CommandKit
package import Foundation
import ProgramTestSupport
import Testing
import Vendors

/// The files that the demonstration generates, made once for all tests of a process: making the keys takes seconds.
package enum DemoFolder {
    private static let folder = FileManager.default.temporaryDirectory.appending(
        path: "remint-test-demo-\(UUID().uuidString)")

    /// The version of the ring `braze-ios`, by the month of its key.
    package static let version = "braze-ios-\(UnixTime.system().description.prefix(7))"

    private static let demo = Task {
        atexit { try? FileManager.default.removeItem(at: DemoFolder.folder) }
        // In a process of its own: hundreds of tests that compute would take turns with each step of its worker.
        let program = try await Program.run(Repository.remint, ["demo", "--dir", folder.path, "--json"])
        try #require(program.status == 0, "\(program.errorText)")
        return program.standardOutput
    }

    /// The configuration with the apps of the compiled vendors alone.
    private static let compiled = Task {
        _ = try await demo.value
        let file = folder.appending(path: "remint.yaml")
        return try appsOfCompiledVendors(String(contentsOf: file, encoding: .utf8))
    }

    /// The demonstration's results, tokens included, as JSON.
    package static var results: Data { get async throws { try await demo.value } }

    /// Copies the files to `copy`, a folder that is not there yet.
    ///
    /// - Parameter all: keeps the apps, and the key rings, of the vendors that are files. Every command reads the files and the
    ///   keys of all apps.
    package static func copy(to copy: URL, all: Bool = false) async throws {
        _ = try await demo.value
        // The paths in the files begin at the files' own folder, and a copy has the modes of the originals.
        try FileManager.default.copyItem(at: folder, to: copy)
        guard !all else { return }
        try await Data(compiled.value.utf8).write(to: copy.appending(path: "remint.yaml"))
    }

    /// Returns the configuration `text` with no app, and no key ring, of a vendor that is a file.
    private static func appsOfCompiledVendors(_ text: String) throws -> String {
        let names = AdapterRegistry.compiled.names
        var dropped: Set<Substring> = []
        let kept = text.replacing(#/  ([a-z0-9-]+):\n    adapter: ([a-z0-9-]+)\n(    .*\n)+/#) { app in
            if names.contains(String(app.output.2)) { return app.output.0 }
            dropped.insert(app.output.1)
            return ""
        }
        try #require(dropped.count >= 30)
        return kept.replacing(#/  ([a-z0-9-]+): { path: keys/[a-z0-9-]+ }\n/#) { ring in
            dropped.contains(ring.output.1) ? "" : ring.output.0
        }
    }
}
