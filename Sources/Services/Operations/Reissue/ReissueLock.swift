package import AdapterKit
import Keyring

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
