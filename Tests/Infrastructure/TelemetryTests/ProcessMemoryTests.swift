import Testing

@testable import Telemetry

/// The memory of a process beside its limit.
@Suite struct ProcessMemoryTests {
    private static func limit(_ membership: String, _ files: [String: String]) -> Double? {
        ProcessMemory.limit(of: membership) { files[$0] }
    }

    @Test func `the lowest limit of a group and of those around it counts`() {
        let files = [
            "/sys/fs/cgroup/memory.max": "max\n", "/sys/fs/cgroup/a/memory.max": "2000\n",
            "/sys/fs/cgroup/a/b/memory.max": "3000\n",
        ]
        #expect(Self.limit("0::/a/b\n", files) == 2000)
        #expect(Self.limit("12:cpu:/x\n0::/a\n", files) == 2000)
        #expect(Self.limit("0::/\n", ["/sys/fs/cgroup/memory.max": "536870912\n"]) == 536_870_912)
    }

    @Test(arguments: ["", "0::/\n", "1:memory:/a\n", "0::/a\n", "garbage"])
    func `a process without a limit has none`(membership: String) {
        #expect(
            Self.limit(membership, ["/sys/fs/cgroup/memory.max": "max\n", "/sys/fs/cgroup/a/memory.max": "-1\n"]) == nil
        )
    }

    @Test(arguments: [(0, false), (850, false), (851, true), (2000, true)])
    func `memory is short above 85 % of its limit`(resident: Double, isShort: Bool) {
        let memory = ProcessMemory(resident: resident, limit: 1000)
        #expect((memory.shortage != nil) == isShort)
    }

    @Test func `a shortage names its share and its limit`() {
        let memory = ProcessMemory(resident: Double(500 << 20), limit: Double(512 << 20))
        #expect(memory.shortage == "97 % of the memory limit of 512 MiB is in use")
    }
}
