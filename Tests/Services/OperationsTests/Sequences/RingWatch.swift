import Foundation
import Glibc
import Keyring
import Synchronization

/// A fault of the disk during a command.
enum Fault: Sendable {
    case none
    /// The process ends before the step.
    case crash(Int)
    /// The disk is full at the step, or from it on.
    case full(Int, stays: Bool)

    func outcome(at step: Int) -> Disk.Outcome {
        switch self {
        case .none: .real
        case .crash(let first): step >= first ? .crash : .real
        case .full(let first, let stays): step == first || stays && step > first ? .failure(ENOSPC) : .real
        }
    }
}

/// The disk of one command.
final class FaultyDisk: Sendable {
    private let fault: Fault
    private let watch: RingWatch
    private let counter = Mutex((steps: 0, wasReached: false))

    init(_ fault: Fault, _ watch: RingWatch) {
        self.fault = fault
        self.watch = watch
    }

    /// Whether the fault came.
    var wasReached: Bool { counter.withLock { $0.wasReached } }

    var disk: Disk {
        Disk { [self] _ in
            watch.observe()
            return counter.withLock { counter in
                let outcome = fault.outcome(at: counter.steps)
                counter.steps += 1
                if outcome != .real { counter.wasReached = true }
                return outcome
            }
        }
    }
}

/// Looks at the ring and the campaign before each step of a command: whatever changed, changed behind its intent in the log.
final class RingWatch: Sendable {
    private struct Seen {
        var listing = FileState()
        var rotation = FileState()
        /// The log's length at each change.
        var changes: [Int] = []
        var violation: String?
    }

    private struct FileState: Equatable {
        var inode: UInt64 = 0
        var size = 0
        var nanoseconds = 0

        init() {}

        init(_ path: String) {
            var status = stat()
            guard stat(path, &status) == 0 else { return }
            (inode, size, nanoseconds) = (UInt64(status.st_ino), Int(status.st_size), status.st_mtim.tv_nsec)
        }
    }

    private let folder: String
    private let seen: Mutex<Seen>

    init(_ folder: String) {
        self.folder = folder
        seen = Mutex(Seen(listing: FileState("\(folder)/keyring.json"), rotation: FileState("\(folder)/rotation.json")))
    }

    func observe() {
        let listing = FileState("\(folder)/keyring.json"), rotation = FileState("\(folder)/rotation.json")
        seen.withLock { seen in
            guard listing != seen.listing || rotation != seen.rotation else { return }
            let file = listing != seen.listing ? "the ring" : "the campaign"
            (seen.listing, seen.rotation) = (listing, rotation)
            let log = fileBytes("\(folder)/audit.log")
            seen.changes.append(log.count)
            let last = String(decoding: log.dropLast().suffix(while: { $0 != UInt8(ascii: "\n") }), as: UTF8.self)
            if !last.contains(#""stage":"intent""#) {
                seen.violation = "\(file) was changed without an intent; the log ends in \(last)"
            }
        }
    }

    /// The log's length at each change since the last call.
    ///
    /// - Throws: `Violation`.
    func takeChanges() throws -> [Int] {
        observe()
        return try seen.withLock { seen in
            if let violation = seen.violation { throw Violation(violation) }
            defer { seen.changes = [] }
            return seen.changes
        }
    }
}

extension BidirectionalCollection {
    /// The longest end of the collection whose elements are all wanted.
    fileprivate func suffix(while isWanted: (Element) -> Bool) -> SubSequence {
        self[(lastIndex { !isWanted($0) }.map(index(after:)) ?? startIndex)...]
    }
}

/// A property that does not hold.
struct Violation: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// The contents of the file at `path`; empty where there is none.
func fileBytes(_ path: String) -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return [] }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return [] }
    return [UInt8](unsafeUninitializedCapacity: Int(status.st_size) + 1) { buffer, count in
        count = max(0, read(descriptor, buffer.baseAddress, buffer.count))
    }
}
