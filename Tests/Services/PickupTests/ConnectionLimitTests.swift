import Serving
import Testing
import WorkerConfiguration

@testable import Pickup

/// The number of connections, by the limit of open files.
@Suite struct ConnectionLimitTests {
    private static func limit(_ connections: Int?, _ files: Int) -> ConnectionLimit {
        var pickup = Configuration.Pickup()
        if let connections { pickup.connections = connections }
        return ConnectionLimit(pickup, OpenFiles(limit: files))
    }

    @Test func `a number that the configuration names needs its files and a reserve`() {
        let needed = 2000 + OpenFiles.reserve
        #expect(Self.limit(2000, needed).problem == nil)
        #expect(Self.limit(2000, needed).connections == 2000)
        let problem = Self.limit(2000, needed - 1).problem
        #expect(problem?.hasPrefix("pickup.connections: 2000 needs \(needed) open files") == true)
        #expect(problem?.contains("\n") == false)
    }

    @Test func `the default gives way to a lower limit, down to a limit that serves nobody`() {
        #expect(Self.limit(nil, 1_000_000).connections == Configuration.Pickup().connections)
        #expect(Self.limit(nil, 1024).problem == nil)
        #expect(Self.limit(nil, 1024).connections == 1024 - OpenFiles.reserve)
        #expect(Self.limit(nil, 120).problem?.hasPrefix("pickup needs ") == true)
    }

    @Test(arguments: [832, 1024, 4096, 50_000, 1_000_000])
    func `accepted connections leave files to the process, whatever the limit`(_ files: Int) {
        let limit = Self.limit(nil, files)
        #expect(limit.problem == nil && limit.accepted > limit.connections)
        #expect(limit.accepted + OpenFiles.operators < files - 256)
    }

    @Test func `the process's own limit is raised to what the system allows`() {
        let raised = OpenFiles.raised()
        #expect(raised.limit > 0 && OpenFiles.raised() == raised)
    }
}
