import AdapterKit
import Foundation
import JOSE
package import Keyring
import Pipeline
package import WorkerConfiguration

/// A file of users, read in pieces: CSV or JSON Lines, gzip or plain.
package final class UserInput {
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

extension UserInput {
    private static let pieceBytes = 1 << 20

    /// Returns a digest of the content of the file at `path`, in hexadecimal digits: each piece is hashed behind the digest of those
    /// before it, so that a file of any size takes the memory of one piece.
    ///
    /// - Throws: `InputUnreadable`, or the file system's error.
    package static func digest(of path: String) throws -> String {
        guard let file = FileHandle(forReadingAtPath: path) else {
            throw InputUnreadable(path: path, reason: "it is not there or may not be read")
        }
        var digest: [UInt8] = []
        while let piece = try file.read(upToCount: pieceBytes), !piece.isEmpty { digest = SHA256.hash(digest + piece) }
        return digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}

/// A user of a batch job's input, or the reason why a row names none.
package struct UserRow: Sendable, Equatable {
    /// The line on which the row begins, from 1.
    package let line: Int
    /// The user as `reissue.user` accepts it: a JSON string, or an object of ids by name.
    package let user: Result<[UInt8], BadRow>

    /// The user on `line`.
    package init(line: Int, user: Result<[UInt8], BadRow>) {
        self.line = line
        self.user = user
    }

    /// The reason why a row cannot be used, without the row's content.
    package struct BadRow: Error, Sendable, Equatable {
        package let reason: String

        /// A row that cannot be used because of `reason`.
        package init(_ reason: String) { self.reason = reason }
    }
}

/// Users out of JSON Lines: a string, an object of ids, or an object with the user under a name.
package struct JSONLinesUserRows: Sendable {
    /// The longest line, in bytes.
    package static let limit = CSVReader.limit
    private let column: String
    private var pending: [UInt8] = []
    private var isTooLong = false
    private var line = 1

    /// - Parameter column: the member of an object that names the user, where the object has it.
    package init(column: String) { self.column = column }

    /// Parses the next bytes.
    package mutating func take(_ chunk: some Sequence<UInt8>) -> [UserRow] {
        var rows: [UserRow] = []
        for byte in chunk {
            guard byte != UInt8(ascii: "\n") else {
                endLine(&rows)
                line += 1
                continue
            }
            if pending.count < Self.limit { pending.append(byte) } else { isTooLong = true }
        }
        return rows
    }

    /// Returns the last line, where no line end follows it.
    package mutating func finish() -> [UserRow] {
        var rows: [UserRow] = []
        endLine(&rows)
        return rows
    }

    private mutating func endLine(_ rows: inout [UserRow]) {
        defer { (pending, isTooLong) = ([], false) }
        if line == 1, pending.starts(with: [0xEF, 0xBB, 0xBF]) { pending.removeFirst(3) }
        if isTooLong {
            rows.append(UserRow(line: line, user: .failure(.init("the line is longer than \(Self.limit) bytes"))))
            return
        }
        guard pending.contains(where: { $0 != 0x20 && $0 != 0x0D && $0 != 0x09 }) else { return }
        rows.append(UserRow(line: line, user: user()))
    }

    private func user() -> Result<[UInt8], UserRow.BadRow> {
        guard let root = try? JSONDocument(parsing: pending).root else {
            return .failure(.init("the line is not JSON"))
        }
        let value = root.isObject ? root[column] ?? root : root
        var json = JSONWriter()
        if let text = value.string {
            guard !text.isEmpty else { return .failure(.init("the user is empty")) }
            json.string(text)
            return .success(json.bytes)
        }
        guard value.isObject, !value.members.isEmpty else {
            return .failure(.init("the line is neither a user's id as a string nor an object of ids"))
        }
        json.beginObject()
        for (name, id) in value.members {
            guard let text = id.string else {
                return .failure(.init("an id is not a string; numbers lose their leading zeros"))
            }
            json.member(name, text)
        }
        json.endObject()
        return .success(json.bytes)
    }
}

/// The subjects of a job that reads the ledger, as they were when it began: their subject keys, a line each, in a file
/// beside the checkpoint. The ledger itself changes while the job works. A key that could be read as several lines, or
/// as another key, is written in hexadecimal digits behind an exclamation mark, which no subject key begins with.
package final class LedgerInput {
    let path: String
    private let apps: [String: Configuration.App]
    private let handle: FileHandle
    private var rest: [UInt8] = []
    private var line = 0
    private var isAtEnd = false

    /// Opens a list that was written before.
    package init(path: String, _ configuration: Configuration) throws {
        guard let handle = FileHandle(forReadingAtPath: path) else {
            throw InputUnreadable(
                path: path, reason: "the job's list of subjects is missing; remove its checkpoint to start again")
        }
        self.path = path
        self.handle = handle
        apps = Dictionary(configuration.apps.map { ($0.name, $0) }) { first, _ in first }
    }

    /// Writes a list, whole or not at all.
    package static func write(_ keys: [[UInt8]], to path: String, on disk: Disk = .real) throws {
        try DurableWrite(path: path, mode: 0o600, on: disk).write { (sink) throws(KeyRingError) in
            var buffer: [UInt8] = []
            for key in keys {
                append(key, to: &buffer)
                buffer.append(UInt8(ascii: "\n"))
                guard buffer.count > 1 << 20 else { continue }
                try sink.append(buffer)
                buffer = []
            }
            try sink.append(buffer)
        }
    }

    private static let mark = UInt8(ascii: "!")

    private static func append(_ key: [UInt8], to buffer: inout [UInt8]) {
        // A worker writes printable ASCII, each key on one line.
        guard key.first == mark || !key.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            buffer += key
            return
        }
        buffer.append(mark)
        let digits = Array("0123456789abcdef".utf8)
        for byte in key {
            buffer.append(digits[Int(byte >> 4)])
            buffer.append(digits[Int(byte & 15)])
        }
    }

    /// Returns the next subjects; nil at the end.
    package func next() throws -> [ReissueJob.Item]? {
        while !isAtEnd {
            let chunk = try handle.read(upToCount: 64 << 10) ?? Data()
            isAtEnd = chunk.isEmpty
            rest += chunk
            var items: [ReissueJob.Item] = []
            var start = 0
            while let end = rest[start...].firstIndex(of: UInt8(ascii: "\n")) {
                line += 1
                items.append(item(Array(rest[start..<end])))
                start = end + 1
            }
            rest.removeFirst(start)
            if !items.isEmpty { return items }
        }
        return nil
    }

    /// Returns the number of remaining subjects, and skips them without parsing.
    func count() throws -> Int {
        var count = rest.count { $0 == UInt8(ascii: "\n") }
        while let chunk = try handle.read(upToCount: 1 << 20), !chunk.isEmpty {
            count += chunk.count { $0 == UInt8(ascii: "\n") }
        }
        isAtEnd = true
        return count
    }

    private func item(_ key: [UInt8]) -> ReissueJob.Item {
        guard let subject = SubjectKey(key) else {
            return ReissueJob.Item(row: UserRow(line: line, user: .failure(.init(SubjectKey.refusal(key)))), app: nil)
        }
        return ReissueJob.Item(row: UserRow(line: line, user: .success(subject.user)), app: apps[subject.app])
    }
}
