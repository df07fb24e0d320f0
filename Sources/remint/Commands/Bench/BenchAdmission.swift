import AdapterKit
import ArgumentParser
import Bench
import JOSE
import Pipeline

/// `remint bench admission`.
struct BenchAdmission: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "admission", abstract: "What an event costs besides its signature, as memory and apps grow.",
        discussion: """
            Events of users who are all different go from record to replacement token, with a signer that does nothing. Each
            row remembers so many recent subjects, and knows so many apps; all rows are measured in turns.
            """)

    @Option(help: "How many recent subjects are remembered; repeatable.")
    var subjects: [Int] = []
    @Option(help: "Among how many apps the events are spread; repeatable.") var apps: [Int] = []
    @Option(help: "How many events each measurement takes.") var events = 50_000
    @OptionGroup var options: BenchOptions

    func validate() throws {
        guard subjects.allSatisfy({ $0 >= 0 }) else { throw ValidationError("--subjects is at least 0") }
        guard apps.allSatisfy({ $0 >= 1 }) else { throw ValidationError("--apps is at least 1") }
        guard events > 0 else { throw ValidationError("--events is at least 1") }
    }

    private struct Row {
        let apps: Int
        let subjects: Int
        var course: EventCourse
        var seconds: [Double] = []
    }

    func run() async throws {
        var rows: [Row] = []
        for apps in self.apps.isEmpty ? [1, 1000] : self.apps {
            for subjects in self.subjects.isEmpty ? [1000, 100_000, 1_000_000] : self.subjects {
                var course = try EventCourse(apps: apps, subjects: subjects)
                try await course.fill()
                rows.append(Row(apps: apps, subjects: subjects, course: course))
            }
        }
        for _ in 0..<options.rounds {
            for index in rows.indices {
                rows[index].seconds.append(try await rows[index].course.run(events) / Double(events))
            }
        }
        options.json ? printJSON(rows) : printTable(rows)
    }

    private func printTable(_ rows: [Row]) {
        var table = TextTable("apps", "subjects", "µs an event", "to the first row", "memory MB", "bytes a subject")
        for row in rows {
            let memory = row.course.memory
            table.add(
                "\(row.apps)", "\(row.subjects)", Spread(row.seconds.map { $0 * 1e6 }).text(2),
                Spread.ratio(row.seconds, of: rows[0].seconds).text(2), "\(memory.bytes >> 20)",
                "\(memory.bytes / max(1, memory.subjects))")
        }
        for line in table.lines { Terminal.print(line) }
    }

    private func printJSON(_ rows: [Row]) {
        options.printJSON("admission", of: rows) { json, row in
            json.member("apps", Int64(row.apps))
            json.member("subjects", Int64(row.subjects))
            json.member("microseconds_per_event", Spread(row.seconds.map { $0 * 1e6 }))
            json.member("ratio_to_first", Spread.ratio(row.seconds, of: rows[0].seconds))
            json.member("bytes", Int64(row.course.memory.bytes))
            json.member("remembered", Int64(row.course.memory.subjects))
        }
    }
}

/// The pipeline without broker and signatures: records in, settlements out, batch by batch.
struct EventCourse {
    private static let batch = 500
    private let names: [String]
    private let subjects: Int
    private let report: @Sendable (String) -> String
    private var processor: BatchProcessor
    private var next = 0
    private var number = 0

    init(apps: Int, subjects: Int) throws {
        let app = try BenchApp("HS256")
        self.subjects = subjects
        report = app.report
        names = (0..<apps).map { "bench-\($0)" }
        processor = BatchProcessor(
            apps: names.map { App(name: $0, adapter: app.adapter, keyRing: "bench", lifetime: 3600) },
            signing: SilentSigner(algorithm: app.algorithm), maximumEventBytes: 65_536,
            admission: AdmissionRules(subjects: subjects), now: UnixTime.system)
    }

    /// The number of recent subjects that are remembered, and the bytes of that memory.
    var memory: (subjects: Int, bytes: Int) { processor.memory }

    /// Makes the memory as full as it gets.
    mutating func fill() async throws { _ = try await run(max(subjects * 2, 5000)) }

    /// - Returns: the seconds that the events took; making the records does not count.
    mutating func run(_ events: Int) async throws -> Double {
        var seconds = 0.0
        for first in stride(from: 0, to: events, by: Self.batch) {
            let records = (first..<min(first + Self.batch, events)).map { _ in record() }
            number += 1
            let start = ContinuousClock.now
            let settlements = await processor.process(records, batch: number)
            processor.confirm(throughBatch: number)
            seconds += (.now - start) / .seconds(1)
            guard settlements.allSatisfy({ $0.outcome == .minted }) else {
                throw BenchFailed("an event was not answered with a token")
            }
        }
        return seconds
    }

    private mutating func record() -> InputRecord {
        next += 1
        return InputRecord(
            origin: RecordPosition(topic: "remint.invalidations", partition: Int32(next % 6), offset: Int64(next / 6)),
            timestamp: UnixTime.system(), key: nil, value: Array(report("user-\(next)").utf8),
            headers: [
                RecordHeader("remint-app", names[next % names.count]), RecordHeader("remint-id", "event-\(next)"),
            ])
    }
}

/// Answers at once, with a signature of the right width. Its key is the same object for all, as a signer's is.
private struct SilentSigner: SigningPort {
    private let key: SigningKeyReference

    init(algorithm: Algorithm) {
        key = SigningKeyReference(
            ring: "bench", version: "bench-1", keyID: "bench-1", algorithm: algorithm, retireAfter: nil)
    }

    func activeKey(of ring: String) -> SigningKeyReference? { key }

    func sign(_ requests: [SigningRequest], urgency: SigningUrgency) async -> [Result<[UInt8], Rejection>] {
        Array(repeating: .success([UInt8](repeating: 0, count: 32)), count: requests.count)
    }
}
