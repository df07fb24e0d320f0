import AdapterKit
import Foundation
import Keyring
import Pipeline
import WorkerConfiguration

/// A campaign's subjects in a file, and those of them who can be asked for.
struct CampaignList {
    private let path: String
    private let configuration: Configuration

    /// The list of the job with `files`.
    init(_ files: ReissueFiles, _ configuration: Configuration) {
        path = files.subjects
        self.configuration = configuration
    }

    /// A subject who can be asked for.
    struct Member {
        /// The row, from 1.
        let row: Int
        /// The subject key.
        let key: [UInt8]
        /// The app.
        let app: Configuration.App
    }

    /// Calls `body` with each subject who can be asked for, in their order.
    ///
    /// - Throws: `InputUnreadable`.
    func each(_ body: (Member) throws -> Void) throws {
        let input = try LedgerInput(path: path, configuration)
        var row = 0
        while let items = try input.next() {
            for item in items {
                row += 1
                guard let app = item.app, case .success(let user) = item.row.user,
                    let key = try? ReissueEvent.key(of: user, app: app.name, adapter: app.adapter)
                else { continue }
                try body(Member(row: row, key: key, app: app))
            }
        }
    }

    /// Returns the number of all rows.
    ///
    /// - Throws: `InputUnreadable`.
    func count() throws -> Int { try LedgerInput(path: path, configuration).count() }

    /// Moves `rows` to the place behind the first `fixed` rows, which stay, because their events may have been sent
    /// under their numbers. The file is written whole or not at all.
    ///
    /// - Throws: `InputUnreadable` or `KeyRingError`.
    func move(_ rows: [Int], behind fixed: Int, on disk: Disk) throws {
        guard let handle = FileHandle(forReadingAtPath: path), let data = try handle.readToEnd() else {
            throw InputUnreadable(path: path, reason: "the job's list of subjects is not there")
        }
        let lines = Array(data).split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        let count = lines.last?.isEmpty == true ? lines.count - 1 : lines.count
        let moved = Set(rows)
        let rest = (fixed..<max(fixed, count)).filter { !moved.contains($0 + 1) }
        let order = Array(0..<min(fixed, count)) + rows.map { $0 - 1 } + rest
        try DurableWrite(path: path, mode: 0o600, on: disk).write { (sink) throws(KeyRingError) in
            var buffer: [UInt8] = []
            for place in order where lines.indices.contains(place) {
                buffer += lines[place]
                buffer.append(UInt8(ascii: "\n"))
                guard buffer.count > 1 << 20 else { continue }
                try sink.append(buffer)
                buffer = []
            }
            try sink.append(buffer)
        }
    }
}
