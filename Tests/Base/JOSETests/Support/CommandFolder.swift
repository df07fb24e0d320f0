import Foundation
import Testing

/// A folder of its own, in which commands are run.
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
        // The output goes to a file: a pipe's end can be inherited by a process started at the same moment, and
        // would then stay open after this one has ended.
        let outputName = "stdout-\(UUID().uuidString)"
        try write([], to: outputName)
        let output = try FileHandle(forWritingTo: folder.appending(path: outputName))
        defer { try? output.close() }
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = command
        process.currentDirectoryURL = folder
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        let status = try await withCheckedThrowingContinuation {
            (continuation: CheckedContinuation<Int32, any Error>) in
            process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
            do { try process.run() } catch {
                process.terminationHandler = nil
                continuation.resume(throwing: error)
            }
        }
        return (status, try read(outputName))
    }
}
