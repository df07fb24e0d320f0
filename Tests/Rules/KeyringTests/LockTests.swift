import AsyncTestSupport
import Foundation
import Keyring
import Synchronization
import Testing

@Suite("The lock of a key ring")
struct LockTests {
    /// A child process that is being started holds a copy of every descriptor until it runs.
    @Test func `a ring's lock is released even if a copy of its descriptor lives on`() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "remint-lock-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(at: folder) }
        let directory = KeyRingDirectory(path: folder.path)
        let copy: Int32
        do {
            let editor = try KeyRingEditor(directory)
            let held = try Self.descriptor(of: "\(editor.directory.path)/keyring.lock")
            copy = dup(try #require(held))
            #expect(throws: KeyRingError.self) { _ = try KeyRingEditor(directory).listing }
            withExtendedLifetime(editor.listing) {}
        }
        defer { close(copy) }
        #expect(copy >= 0)
        _ = try KeyRingEditor(directory).listing
    }

    @Test func `a lock has one holder, and is never taken through a symbolic link`() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "remint-lock-\(UUID().uuidString)").path
        let link = "\(path).link"
        defer { for file in [path, link] { try? FileManager.default.removeItem(atPath: file) } }
        let first = try FileLock(path)
        #expect(throws: FileLock.Failure.held) { _ = try FileLock(path).identity }
        #expect(first.identity != nil)
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
        #expect(throws: FileLock.Failure.unusable(String(cString: strerror(ELOOP)))) { _ = try FileLock(link).identity }
        #expect(throws: FileLock.Failure.unusable(String(cString: strerror(ENOENT)))) {
            _ = try FileLock("/nowhere/at/all").identity
        }
    }

    /// Descriptors are numbers that the next file gets: one that is closed twice was another's the second time.
    @Test func `a lock that is refused closes no other descriptor`() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "remint-lock-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let lock = try FileLock(path)
        let stolen = Atomic(0)
        DispatchQueue.concurrentPerform(iterations: 4) { thread in
            for _ in 0..<Scale.rounds(10_000) {
                if thread.isMultiple(of: 2) {
                    _ = try? FileLock(path).identity
                } else if close(open("/dev/null", O_RDONLY | O_CLOEXEC)) != 0 {
                    stolen.add(1, ordering: .relaxed)
                }
            }
        }
        #expect(stolen.load(ordering: .relaxed) == 0)
        #expect(lock.identity != nil)
    }

    private static func descriptor(of path: String) throws -> Int32? {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { Int32($0) }.first {
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) == path
        }
    }
}
