import Foundation
import Testing
import WorkerTestSupport

@testable import Worker

@Suite struct InstanceNameTests {
    @Test func `an instance's files are in the service manager's state folder, or in /tmp`() {
        #expect(InstanceName.folder(stateDirectory: "/var/lib/remint") == "/var/lib/remint")
        #expect(InstanceName.folder(stateDirectory: "/var/lib/a:/var/lib/b") == "/var/lib/a")
        for none in [nil, "", "lib/remint"] { #expect(InstanceName.folder(stateDirectory: none) == "/tmp") }
    }

    @Test func `two live workers have different names, and groups share none`() throws {
        let folder = try TemporaryFolder()
        let first = InstanceName(group: "g", folder: folder.path)
        let second = InstanceName(group: "g", folder: folder.path)
        let other = InstanceName(group: "other", folder: folder.path)
        #expect(Set([first.text, second.text, other.text]).count == 3)
        #expect(first.text.hasPrefix("g-") && other.text.hasPrefix("other-"))
    }

    @Test func `the successor of a dead instance gets its name`() throws {
        let folder = try TemporaryFolder()
        let stays = InstanceName(group: "g", folder: folder.path)
        var names: Set<String> = []
        for _ in 0..<10 { names.insert(InstanceName(group: "g", folder: folder.path).text) }
        #expect(names.count == 1)
        #expect(stays.isStable)
        #expect(!names.contains(stays.text))
    }

    @Test func `a hundred instances at once have a hundred names`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path
        let names = await withTaskGroup { group in
            for _ in 0..<100 { group.addTask { InstanceName(group: "g", folder: path) } }
            var names: [InstanceName] = []
            for await name in group { names.append(name) }
            return names
        }
        #expect(Set(names.map(\.text)).count == 100)
    }

    @Test func `another process does not get the name of a live instance`() async throws {
        let folder = try TemporaryFolder()
        let name = InstanceName(group: "g", folder: folder.path)
        let lock = try #require(try FileManager.default.contentsOfDirectory(atPath: folder.path).first)
        let path = "\(folder.path)/\(lock)"
        #expect(try lockIsTaken(path))
        withExtendedLifetime(name) {}
    }

    /// Locks belong to the open file, so that a second opening is as good as a second process.
    private func lockIsTaken(_ path: String) throws -> Bool {
        let descriptor = open(path, O_RDWR)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        return flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK
    }

    @Test func `an instance's name is random if no file can be locked`() {
        let names = (0..<3).map { _ in InstanceName(group: "g", folder: "/nonexistent/folder") }
        #expect(Set(names.map(\.text)).count == 3)
        #expect(names.allSatisfy { $0.text.hasPrefix("g-") })
        #expect(names.allSatisfy { !$0.isStable })
    }

    @Test func `a link that someone laid out is not followed`() throws {
        let folder = try TemporaryFolder()
        let first = InstanceName(group: "g", folder: folder.path)
        let lock = try #require(try FileManager.default.contentsOfDirectory(atPath: folder.path).first)
        let trap = try TemporaryFolder()
        let target = "\(trap.path)/target"
        #expect(FileManager.default.createFile(atPath: target, contents: Data("keep".utf8)))
        try FileManager.default.createSymbolicLink(atPath: "\(trap.path)/\(lock)", withDestinationPath: target)
        let second = InstanceName(group: "g", folder: trap.path)
        #expect(second.text != first.text)
        #expect(FileManager.default.contents(atPath: target) == Data("keep".utf8))
        #expect(FileManager.default.fileExists(atPath: "\(trap.path)/\(lock.replacing("-0.lock", with: "-1.lock"))"))
    }
}
