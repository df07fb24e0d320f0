package import AdapterKit
import Foundation
import JOSE
package import Keyring
import Pipeline

/// A job's files: its checkpoint, and the rows that could not be used.
package struct ReissueFiles {
    package let state: String
    package let rejects: String
    /// The subjects of a job out of the ledger.
    package let subjects: String
    package let lock: String
    let disk: Disk

    /// The checkpoint at `state`, such as `job.json`, and its neighbors `job.rejects.jsonl`, `job.subjects` and
    /// `job.lock`.
    package init(state: String, on disk: Disk = .real) {
        self.state = state
        self.disk = disk
        let name = state.hasSuffix(".json") ? String(state.dropLast(5)) : state
        rejects = name + ".rejects.jsonl"
        subjects = name + ".subjects"
        lock = name + ".lock"
    }

    /// Reads the checkpoint; nil where the job has not begun.
    ///
    /// - Throws: `InputUnreadable` where the file is no checkpoint.
    package func load() throws -> ReissueProgress? {
        let descriptor = open(state, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw InputUnreadable(path: state, reason: Self.refusal(errno, "--state"))
        }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        try Self.requireOwnFile(descriptor, state, "--state")
        guard let progress = ReissueProgress(Array(try handle.readToEnd() ?? Data())) else {
            throw InputUnreadable(path: state, reason: "it is no checkpoint of a job; name another --state")
        }
        return progress
    }

    /// Writes the checkpoint, whole or not at all.
    package func save(_ progress: ReissueProgress) throws {
        try DurableWrite(path: state, mode: 0o600, on: disk).write(SecretBytes(copying: progress.json))
    }

    /// Opens the file of rejected rows, cut to the length in the checkpoint. A missing file is created, for its owner
    /// alone. A link is not followed: an account that may write to the folder could have the job cut any of its files.
    ///
    /// - Throws: `InputUnreadable`, or the file system's error.
    func openRejects(_ progress: ReissueProgress) throws -> FileHandle {
        let descriptor = try disk.run(.create, on: rejects) {
            open(rejects, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        }
        guard descriptor >= 0 else { throw InputUnreadable(path: rejects, reason: Self.refusal(errno, "--state")) }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        try Self.requireOwnFile(descriptor, rejects, "--state")
        guard FolderOwner.adopt(descriptor, in: URL(filePath: rejects).deletingLastPathComponent().path) else {
            throw InputUnreadable(path: rejects, reason: "it cannot be given to the folder's owner")
        }
        let length = off_t(clamping: progress.rejectsLength)
        guard try disk.run(.write, on: rejects, { ftruncate(descriptor, length) }) == 0 else { throw unwritten }
        try handle.seek(toOffset: UInt64(clamping: progress.rejectsLength))
        return handle
    }

    /// Appends the lines of rejected rows to the open file and brings them to disk.
    ///
    /// - Throws: `InputUnreadable`, or `KeyRingError` in place of a crash.
    func append(_ lines: Data, to file: FileHandle) throws {
        let descriptor = file.fileDescriptor
        var rest = lines[...]
        while !rest.isEmpty {
            let count = try disk.run(.write, on: rejects) {
                rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw unwritten }
            rest = rest.dropFirst(count)
        }
        guard try disk.run(.sync, on: rejects, { fsync(descriptor) }) == 0 else { throw unwritten }
    }

    private var unwritten: InputUnreadable {
        InputUnreadable(path: rejects, reason: "it cannot be written: \(String(cString: strerror(errno)))")
    }

    private static func refusal(_ error: Int32, _ option: String) -> String {
        error == ELOOP
            ? "it is a symbolic link, which is not followed; name the file itself with \(option)"
            : "it cannot be opened: \(String(cString: strerror(error)))"
    }

    /// Refuses a pipe, a device or another account's file.
    private static func requireOwnFile(_ descriptor: Int32, _ path: String, _ option: String) throws {
        guard isOwnFile(descriptor)
        else { throw InputUnreadable(path: path, reason: "it is no file of yours; name another with \(option)") }
    }

    /// Returns a line of the rejected rows' file: the row's number and the reason, never the row's content.
    static func reject(line: Int, _ reason: String) -> Data {
        var json = JSONWriter()
        json.beginObject()
        json.member("line", Int64(line))
        json.member("reason", reason)
        json.endObject()
        return Data(json.bytes + [UInt8(ascii: "\n")])
    }
}

/// The progress of a batch job, as its checkpoint states it.
package struct ReissueProgress: Sendable, Equatable {
    /// The job's id, which its events' ids begin with.
    package let job: String
    /// The job's input; another input needs another checkpoint.
    package let input: String
    /// Rows that were read, good and bad.
    package var rows = 0
    /// Events that were delivered.
    package var sent = 0
    /// Rows that could not be used.
    package var rejected = 0
    /// The length of the file of rejected rows, in bytes.
    package var rejectsLength = 0
    /// Rows whose events were about to be delivered when the checkpoint was written: those behind `rows` may have been
    /// delivered.
    package var sendingRows = 0
    /// The time when the first of the rows behind `rows` was about to be delivered; nil where it is unknown.
    package private(set) var sendingSince: UnixTime?
    /// The offsets that an open transaction hid when the job's users were read from the ledger.
    package var hidden = 0
    /// The number of rows; nil where it is unknown.
    package var total: Int?
    /// Whether every row was read.
    package var isFinished = false
    /// The campaign that the job belongs to; nil for a job by itself.
    package let campaign: String?
    /// The campaign's round: each reads the whole ledger again.
    package let round: Int
    /// Whether the ledger was read again after the last event.
    package var isSettled = false

    package init(job: String, input: String) {
        self.job = job
        self.input = input
        (campaign, round) = (nil, 1)
    }

    /// The job of a campaign at the beginning of the round `round`.
    package init(campaign: String, round: Int, input: String) {
        self.init(job: "\(campaign).\(round)", input: input, campaign: campaign, round: round)
    }

    private init(job: String, input: String, campaign: String?, round: Int) {
        self.job = job
        self.input = input
        self.campaign = campaign
        self.round = round
    }

    /// Notes that the rows up to `row` are about to be delivered at `time`. Rows that are in doubt already keep their
    /// time.
    package mutating func deliver(through row: Int, at time: UnixTime) {
        if sendingRows <= rows { sendingSince = time }
        sendingRows = max(sendingRows, row)
    }

    /// The rows whose events may have been delivered before a crash, or not.
    package var inDoubt: Range<Int> { rows..<max(rows, sendingRows) }

    /// Reads a checkpoint; nil where `text` is none.
    package init?(_ text: [UInt8]) {
        guard let root = try? JSONDocument(parsing: text).root, let job = root["job"]?.string,
            let input = root["input"]?.string
        else { return nil }
        func count(_ name: String) -> Int? { root[name]?.number.flatMap { Int(exactly: $0) } }
        guard let rows = count("rows"), let sent = count("sent"), let rejected = count("rejected"),
            let rejectsLength = count("rejects_length"), [rows, sent, rejected, rejectsLength].allSatisfy({ $0 >= 0 })
        else { return nil }
        let campaign = root["campaign"]?.string
        self.init(job: job, input: input, campaign: campaign, round: count("round") ?? 1)
        guard root["campaign"] == nil || campaign != nil else { return nil }
        (self.rows, self.sent, self.rejected, self.rejectsLength) = (rows, sent, rejected, rejectsLength)
        // Checkpoints from before this member was written know of no event under way.
        sendingRows = count("sending_rows") ?? rows
        sendingSince = root["sending_since_ms"]?.integer.map { UnixTime(milliseconds: $0) }
        hidden = max(0, count("hidden") ?? 0)
        total = count("total").map { max(0, $0) }
        isFinished = root["finished"]?.bool ?? false
        isSettled = root["settled"]?.bool ?? false
    }

    /// The checkpoint's text.
    package var json: [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.member("job", job)
        if let campaign { json.member("campaign", campaign) }
        if campaign != nil { json.member("round", Int64(round)) }
        json.member("input", input)
        json.member("rows", Int64(rows))
        if let total { json.member("total", Int64(total)) }
        json.member("sent", Int64(sent))
        json.member("rejected", Int64(rejected))
        json.member("rejects_length", Int64(rejectsLength))
        json.member("sending_rows", Int64(sendingRows))
        if let sendingSince { json.member("sending_since_ms", sendingSince.milliseconds) }
        if hidden > 0 { json.member("hidden", Int64(hidden)) }
        json.name("finished")
        json.bool(isFinished)
        json.name("settled")
        json.bool(isSettled)
        json.endObject()
        return json.bytes + [UInt8(ascii: "\n")]
    }

    /// Whether no event can have been delivered: the rows may still become other users.
    package var isUntouched: Bool { rows == 0 && sendingRows == 0 }

    package func eventID(row: Int) -> String { "\(job)-\(row)" }
}

/// The lock of a job: two runs over one checkpoint would deliver each event twice. The lock ends with the process.
package struct ReissueLock: ~Copyable {
    private let lock: FileLock

    /// Takes the lock on the file `path`, and writes down the holder and the time `now`. Does not wait.
    ///
    /// - Throws: `ReissueHeld`, or `InputUnreadable` where the file cannot be opened.
    package init(_ path: String, at now: UnixTime) throws {
        do throws(FileLock.Failure) { lock = try FileLock(path, holder: LockHolder.line(since: now)) } catch {
            switch error {
            case .held: throw ReissueHeld(path: path, holder: FileLock.holder(of: path))
            case .unusable(let reason):
                throw InputUnreadable(
                    path: path, reason: "it cannot be opened: \(reason); the folder must be yours to change")
            }
        }
    }
}

/// A job that another process is at work on.
package struct ReissueHeld: Error, CustomStringConvertible {
    let path: String
    let holder: String?

    package var description: String {
        "this job is being run by \(holder ?? "another process"), which holds \(path); wait until that is done, then run the command again"
    }
}
