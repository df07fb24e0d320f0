import AdapterKit
import Foundation
import Pipeline

/// A file of users, read in pieces: CSV or JSON Lines, gzip or plain.
package final class UserInput {
    /// The format of the file.
    package enum Format: String, CaseIterable, Sendable { case csv, jsonl }

    private enum Rows {
        case csv(CSVUserRows)
        case lines(JSONLinesUserRows)
    }

    private static let chunkBytes = 64 << 10
    private let handle: FileHandle
    private let unpacking: Process?
    private let path: String
    private var rows: Rows
    private var isAtEnd = false

    /// - Parameters:
    ///   - columns: the columns, or the one member, that name the user.
    ///   - areNamed: whether the vendor names users by several ids.
    /// - Throws: `InputUnreadable`.
    package init(path: String, format: Format, columns: [String], areNamed: Bool, delimiter: UInt8) throws {
        self.path = path
        guard let file = FileHandle(forReadingAtPath: path) else {
            throw InputUnreadable(path: path, reason: "it is not there or may not be read")
        }
        let magic = try file.read(upToCount: 2) ?? Data()
        try file.seek(toOffset: 0)
        guard !TextMark.isUTF16(magic) else { throw InputUnreadable(path: path, reason: "it \(TextMark.utf16)") }
        if magic == Data([0x1F, 0x8B]) {
            (handle, unpacking) = try Self.unpack(file, path)
        } else {
            (handle, unpacking) = (file, nil)
        }
        rows =
            switch format {
            case .csv: .csv(CSVUserRows(columns: columns, areNamed: areNamed, delimiter: delimiter))
            case .jsonl: .lines(JSONLinesUserRows(column: columns.first ?? "user"))
            }
    }

    deinit { unpacking?.terminate() }

    /// Returns the next users; nil at the end.
    ///
    /// - Throws: `InputUnreadable`.
    package func next() throws -> [UserRow]? {
        while !isAtEnd {
            let chunk = try handle.read(upToCount: Self.chunkBytes) ?? Data()
            isAtEnd = chunk.isEmpty
            if isAtEnd { try requireUnpacked() }
            let users = try take(chunk)
            if !users.isEmpty { return users }
        }
        return nil
    }

    private func take(_ chunk: Data) throws -> [UserRow] {
        switch rows {
        case .csv(var reader):
            defer { rows = .csv(reader) }
            do throws(CSVUserRows.BadHeader) { return try isAtEnd ? reader.finish() : reader.take(chunk) } catch {
                throw InputUnreadable(path: path, reason: error.description)
            }
        case .lines(var reader):
            defer { rows = .lines(reader) }
            return isAtEnd ? reader.finish() : reader.take(chunk)
        }
    }

    /// Unpacks with the program `gzip`, which is on every machine that this runs on and checks the sums.
    private static func unpack(_ file: FileHandle, _ path: String) throws -> (FileHandle, Process) {
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["gzip", "-dc"]
        process.standardInput = file
        process.standardOutput = pipe
        process.standardError = FileHandle.nullDevice
        do { try process.run() } catch {
            throw InputUnreadable(path: path, reason: "it is gzip, and the program gzip cannot be run")
        }
        return (pipe.fileHandleForReading, process)
    }

    private func requireUnpacked() throws {
        guard let unpacking else { return }
        unpacking.waitUntilExit()
        guard unpacking.terminationStatus == 0 else {
            throw InputUnreadable(path: path, reason: "it is gzip and damaged or cut off")
        }
    }
}

/// An input that cannot be read, or a checkpoint that does not belong to it.
package struct InputUnreadable: Error, CustomStringConvertible {
    let path: String
    let reason: String

    /// The error for `path`, which cannot be read for `reason`.
    package init(path: String, reason: String) {
        self.path = path
        self.reason = reason
    }

    package var description: String { "\(path): \(reason)" }
}
