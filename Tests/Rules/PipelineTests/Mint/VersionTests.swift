import AdapterKit
import Pipeline
import Testing

@Suite("Versions")
struct VersionTests {
    private func versions(_ processor: inout BatchProcessor, _ count: Int) async throws -> [Int64] {
        let records = (0..<count).map {
            InputRecord.raw(SampleReport.bloomreach(id: "u\($0)"), app: "web", offset: Int64($0))
        }
        return try await processor.process(records).map { settlement in
            let output = try #require(settlement.output)
            let version = try #require(try output.json["version"]?.integer)
            #expect(output.values("remint-version") == [String(version)])
            return version
        }
    }

    @Test func `versions are microseconds while the clock moves`() async throws {
        let bench = try TestBench()
        var processor = bench.processor(admission: .off)
        var seen: [Int64] = []
        for step: Int64 in [0, 5, 1_000_000] {
            bench.clock.now = UnixTime(microseconds: TestBench.now.microseconds + step)
            seen += try await versions(&processor, 1)
        }
        #expect(seen == [0, 5, 1_000_000].map { TestBench.now.microseconds + $0 })
    }

    @Test func `versions grow under a clock that stands still or goes back`() async throws {
        let bench = try TestBench()
        var processor = bench.processor(admission: .off)
        var seen: [Int64] = []
        for step: Int64 in [0, 0, 1, -1, -3_600_000_000, -80_000_000_000, 2, 40, 40] {
            bench.clock.now = UnixTime(microseconds: TestBench.now.microseconds + step)
            seen += try await versions(&processor, 30)
        }
        #expect(seen.first == TestBench.now.microseconds)
        #expect(zip(seen, seen.dropFirst()).allSatisfy { $0 < $1 })
        #expect(seen.last == TestBench.now.microseconds + Int64(seen.count) - 1)
    }

    @Test func `a clock that jumps ahead carries versions along, and they stay ahead`() async throws {
        let bench = try TestBench()
        var processor = bench.processor(admission: .off)
        let ahead = bench.clock.now.advanced(bySeconds: 1000)
        bench.clock.now = ahead
        #expect(try await versions(&processor, 1) == [ahead.microseconds])
        bench.clock.now = TestBench.now
        #expect(try await versions(&processor, 2) == [ahead.microseconds + 1, ahead.microseconds + 2])
    }

    @Test func `versions are raised above a known one, and never lowered`() async throws {
        let bench = try TestBench()
        var processor = bench.processor(admission: .off)
        let now = TestBench.now.microseconds
        processor.raiseVersions(above: now + 500)
        #expect(try await versions(&processor, 2) == [now + 501, now + 502])
        processor.raiseVersions(above: now)
        #expect(try await versions(&processor, 1) == [now + 503])
    }
}
