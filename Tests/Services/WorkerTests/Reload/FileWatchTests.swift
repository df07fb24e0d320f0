import Foundation
import JOSE
import Testing
import WorkerTestSupport

@testable import Wiring
@testable import Worker

@Suite("The watched files of a configuration") struct FileWatchTests {
    private func revision(_ path: String, _ text: String) throws -> FileRevision? {
        try Data(text.utf8).write(to: URL(filePath: path))
        return FileRevision(of: path)
    }

    /// Returns the results of repeated checks, with the file at each of `revisions` once.
    private func look(_ watch: inout FileWatch, _ path: String, _ revisions: FileRevision?...) -> [Bool] {
        revisions.map { watch.look(at: [(path, $0)]) }
    }

    @Test func `a file that changed is read once it stays as it is`() throws {
        let folder = try TemporaryFolder()
        let path = "\(folder.path)/c.yaml"
        let first = try revision(path, "1")
        let half = try revision(path, "22")
        let whole = try revision(path, "333")
        var watch = FileWatch([path: first])
        #expect(watch.paths == [path])
        let changing = look(&watch, path, first, half, whole, whole)
        #expect(changing == [false, false, false, true], "one that changes may be half of it")
        watch.read([path: whole])
        let after = look(&watch, path, whole, whole)
        #expect(after == [false, false])
    }

    @Test func `a file that goes, and one that comes, is a change`() throws {
        let folder = try TemporaryFolder()
        let path = "\(folder.path)/c.yaml"
        let there = try revision(path, "1")
        var watch = FileWatch([path: there])
        let going = look(&watch, path, nil, nil)
        #expect(going == [false, true])
        watch.read([path: nil])
        let coming = look(&watch, path, nil, there, there)
        #expect(coming == [false, false, true])
    }

    @Test func `a file that goes and comes back unchanged is no change`() throws {
        let folder = try TemporaryFolder()
        let path = "\(folder.path)/c.yaml"
        let first = try revision(path, "1")
        var watch = FileWatch([path: first])
        let seen = look(&watch, path, nil, first, nil)
        #expect(seen == [false, false, false], "a look before the file was itself again counts for nothing")
    }
}
