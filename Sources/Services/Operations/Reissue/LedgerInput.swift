import AdapterKit
import Foundation
package import Keyring
import Pipeline
package import WorkerConfiguration

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
