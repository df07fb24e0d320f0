import Foundation
import Testing

@testable import Telemetry

@Suite("Metrics of the process") struct ProcessMetricsTests {
    private static let stat =
        "4711 (a (b) c) S 1 4711 4711 0 -1 4194560 5000 0 3 0 150 50 0 0 20 0 7 0 123456 1048576 250 18446744073709551615 1 1 0"

    @Test func `the figures of a process are read, whatever its name contains`() throws {
        let figures = try #require(
            ProcessFigures(stat: Self.stat, system: "cpu 1 2 3\nbtime 1800000000\n", ticks: 100, page: 4096))
        #expect(figures.processorSeconds == 2)
        #expect(figures.threads == 7)
        #expect(figures.virtualBytes == 1_048_576)
        #expect(figures.residentBytes == 250 * 4096)
        #expect(figures.start == 1_800_001_234.56)
    }

    @Test(arguments: ["", ")", "1 (x) S", "1 x S 1 2 3", "1 (x) " + String(repeating: "a ", count: 50)])
    func `contents that are no figures of a process give none`(_ text: String) {
        #expect(ProcessFigures(stat: text, system: "", ticks: 100, page: 4096) == nil)
    }

    @Test func `figures without the system's start have no start of the process`() throws {
        #expect(try #require(ProcessFigures(stat: Self.stat, system: "btime x", ticks: 100, page: 1)).start == nil)
        #expect(ProcessFigures(stat: Self.stat, system: "", ticks: 0, page: 1) == nil)
    }

    @Test(arguments: [
        ("Max open files            1024                 1048576              files     \n", 1024.0),
        ("Max cpu time  unlimited unlimited seconds\nMax open files  unlimited  unlimited  files\n", Double.infinity),
        ("Max cpu time              1                    2                    seconds\n", nil), ("", nil),
    ])
    func `the limit of open files is the soft one`(_ text: String, _ limit: Double?) {
        #expect(ProcessFigures.fileLimit(in: text) == limit)
    }

    @Test func `each reading has the figures of that moment`() throws {
        let registry = MetricsRegistry()
        ProcessMetrics.expose(in: registry)
        func value(_ name: String) throws -> Double {
            try #require(try Exposition(registry.exposition()).value(name), "\(name)")
        }
        let before = try value("process_open_fds")
        let pipes = (0..<32).map { _ in Pipe() }
        #expect(try value("process_open_fds") >= before + 32)
        withExtendedLifetime(pipes) {}
        #expect(try value("process_max_fds") >= value("process_open_fds"))
        #expect(try value("process_resident_memory_bytes") > 1_048_576)
        #expect(try value("process_virtual_memory_bytes") >= value("process_resident_memory_bytes"))
        #expect(try value("process_threads") >= 1)
        let start = try value("process_start_time_seconds")
        let now = Date.now.timeIntervalSince1970
        #expect(start > now - 86_400 * 7 && start <= now + 1)
        let processor = try value("process_cpu_seconds_total")
        #expect(try value("process_cpu_seconds_total") >= processor)
        #expect(try Exposition(registry.exposition()).families["process_cpu_seconds_total"]?.type == "counter")
    }

    @Test func `the build's metric is 1 and has the versions in its labels`() throws {
        let registry = MetricsRegistry()
        BuildInfo(version: "1.2.3", commit: "abc", swift: "6.3", librdkafka: "2.0.2", openssl: "3.0.17")
            .expose(in: registry)
        #expect(
            registry.exposition().hasSuffix(
                #"""
                remint_build_info{version="1.2.3",commit="abc",swift="6.3",librdkafka="2.0.2",openssl="3.0.17"} 1

                """#))
    }

    @Test func `a build is one JSON object of its versions`() {
        let build = BuildInfo(
            version: "1.2.3", kind: "release", commit: "abc", swift: "6.3", librdkafka: "2.0.2", openssl: "3.0.17")
        #expect(
            build.json
                == #"{"version":"1.2.3","kind":"release","commit":"abc","swift":"6.3","#
                + #""librdkafka":"2.0.2","openssl":"3.0.17"}"#)
    }

    @Test func `a histogram exists before its first observation`() throws {
        let registry = MetricsRegistry()
        let histogram = registry.histogram("h_seconds", "Help.", labels: ["app"], buckets: [1])
        histogram.begin("a")
        #expect(try Exposition(registry.exposition()).value("h_seconds_count", ["app": "a"]) == 0)
        histogram.observe(0.5, "a")
        histogram.begin("a")
        #expect(histogram.counts("a") == [1, 0])
    }
}
