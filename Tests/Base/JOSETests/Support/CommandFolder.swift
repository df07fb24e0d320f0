import Foundation
import ProgramTestSupport
import Testing

/// A folder of its own, in which commands are run: among them `openssl`, the second opinion on what JOSE reads and writes.
final class CommandFolder: Sendable {
    private let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "JOSETests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    func write(_ bytes: [UInt8], to name: String) throws { try Data(bytes).write(to: folder.appending(path: name)) }
    func write(_ text: String, to name: String) throws { try write(Array(text.utf8), to: name) }
    func read(_ name: String) throws -> [UInt8] { Array(try Data(contentsOf: folder.appending(path: name))) }
    func readText(_ name: String) throws -> String { String(decoding: try read(name), as: UTF8.self) }

    /// Runs one command, found in the search path, and returns what it printed.
    func outcome(of command: [String]) async throws -> (status: Int32, output: [UInt8]) {
        let program = try await Program.run(command[0], Array(command.dropFirst()), directory: folder)
        return (program.status, Array(program.standardOutput))
    }

    /// Runs a line of a shell that must succeed.
    func shell(_ line: String) async throws {
        try #require(try await outcome(of: ["bash", "-o", "pipefail", "-c", line]).status == 0, "\(line)")
    }

    /// Runs `openssl`, which must succeed.
    func openssl(_ arguments: [String]) async throws {
        try #require(try await opensslSucceeds(arguments), "openssl \(arguments)")
    }

    func opensslSucceeds(_ arguments: [String]) async throws -> Bool {
        try await outcome(of: ["openssl"] + arguments).status == 0
    }
}
