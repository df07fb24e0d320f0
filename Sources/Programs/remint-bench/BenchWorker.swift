import ArgumentParser
import Bench
import CommandKit
import Foundation
import JOSE

/// `remint-bench worker`.
struct BenchWorker: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "worker", abstract: "Measures the whole worker: events per second, latency, cores and memory.",
        discussion: """
            The command starts the worker of --remint as a separate process, on its own topics, and deletes these topics
            afterwards. In each round, the worker rests while the command writes a backlog and measures libcrypto's
            limit on all cores. Then the worker drains the backlog. The command measures from the first commit to the
            last commit. Afterwards, events arrive at a steady rate. The command measures the time of each event from
            before it is produced until a read_committed reader sees its token.

            The time from the start to the first token is that of a worker that returns to its former groups. The
            embedded broker needs five seconds of this time to assign the partitions again.
            """)

    @Option(help: "RS256, ES256 or HS256.") var algorithm = "RS256"
    @Option(help: "Number of events in each round. Default: a number that takes some seconds.") var events: Int?
    @Option(help: "Number of events per second in the measurement of latency.") var rate = 100
    @Option(help: "Length of the measurement of latency, in seconds. 0 skips this measurement.") var seconds = 10
    @OptionGroup var measured: MeasuredProgram
    @OptionGroup var target: BenchBroker.Options
    @OptionGroup var options: BenchOptions

    func validate() throws {
        guard (1...1_000_000_000).contains(events ?? 1) else { throw ValidationError("--events is 1 to 1000000000") }
        guard (1...100_000).contains(rate) else { throw ValidationError("--rate is 1 to 100000") }
        guard (0...3600).contains(seconds) else { throw ValidationError("--seconds is 0 to 3600") }
    }

    func run() async throws {
        let app = try BenchApp.named(algorithm)
        // The embedded broker keeps some 5 MiB of a partition.
        let count = events ?? (target.isEmbedded ? 10_000 : app.algorithm == .rs256 ? 30_000 : 300_000)
        let result = try await target.withBroker { try await measure(app, count, $0) }
        Terminal.print(options.json ? result.json : result.table)
    }

    private func measure(_ app: BenchApp, _ events: Int, _ broker: BenchBroker) async throws -> WorkerResult {
        let stage = try await BenchStage(app, broker, program: measured.url)
        var result = WorkerResult(
            algorithm: app.algorithm.rawValue, delivery: broker.delivery, events: events,
            cores: ProcessInfo.processInfo.activeProcessorCount)
        do {
            result.seconds = try await stage.start()
            let mint = try MintLoop(app, key: nil)
            var progress = ProgressLine()
            for round in 0..<options.rounds {
                progress.show(round, of: options.rounds + 1, "round \(round + 1) of \(options.rounds)")
                try await stage.rest()
                try await stage.feed(events)
                result.limits.append(
                    try Throughput.measure(threads: result.cores, seconds: 1) { try mint.limit() })
                result.drains.append(try await stage.drain())
            }
            if seconds > 0 {
                progress.show(options.rounds, of: options.rounds + 1, "\(rate.of("event")) a second")
                result.waits = try await stage.waits(rate: rate, seconds: seconds)
            }
            result.peakBytes = stage.peakBytes
            progress.clear()
            await stage.end()
        } catch {
            await stage.end()
            throw error
        }
        return result
    }
}

/// The results of a worker's measurements.
struct WorkerResult {
    /// A backlog that was drained.
    struct Drain {
        let eventsPerSecond: Double
        /// Seconds of all cores' time for each second.
        let cores: Double
        /// The processor time of an event, in seconds. It counts from the command to continue, because the work of the
        /// first commit began before that commit.
        let cpuSecondsPerEvent: Double
    }

    let algorithm: String
    let delivery: String
    let events: Int
    let cores: Int
    /// The time from the start of the process to its first token, in seconds.
    var seconds = 0.0
    /// Signatures a second of libcrypto alone, on all cores.
    var limits: [Double] = []
    var drains: [Drain] = []
    /// The times from before an event was produced until its token was seen.
    var waits: [Duration] = []
    var peakBytes = 0

    private var rates: Spread { Spread(drains.map(\.eventsPerSecond)) }
    private var ratio: Spread { Spread.ratio(drains.map(\.eventsPerSecond), of: limits) }

    private func wait(_ part: Double) -> Double {
        let sorted = waits.sorted()
        guard let last = sorted.indices.last else { return 0 }
        return sorted[Int((Double(last) * part).rounded(.up))] / .milliseconds(1)
    }

    var table: String {
        var table = TextTable("\(algorithm), \(delivery)", "\(drains.count.of("round")) of \(events.of("event"))")
        table.add("events/s", rates.text())
        table.add("libcrypto alone/s, \(cores) cores", Spread(limits).text())
        table.add("ratio", ratio.text(3))
        table.add("cores used", Spread(drains.map(\.cores)).text(2))
        table.add("peak memory", "\(peakBytes >> 20) MB")
        table.add("start to first token", "\(Int(seconds * 1000)) ms")
        if !waits.isEmpty {
            let figures = [("p50", 0.5), ("p99", 0.99), ("max", 1)]
                .map { "\($0.0) \(String(format: "%.1f", wait($0.1))) ms" }
            table.add("produced to visible", figures.joined(separator: ", "))
        }
        return table.lines.joined(separator: "\n")
    }

    var json: String {
        var json = JSONWriter()
        json.beginObject()
        json.member("benchmark", "worker")
        json.member("algorithm", algorithm)
        json.member("delivery", delivery)
        json.member("rounds", Int64(drains.count))
        json.member("events", Int64(events))
        json.member("events_per_second", rates)
        json.member("raw_per_second", Spread(limits))
        json.member("ratio", ratio)
        json.member("cores_used", Spread(drains.map(\.cores)))
        json.member("peak_bytes", Int64(peakBytes))
        json.member("start_to_first_token_milliseconds", Int64(seconds * 1000))
        if !waits.isEmpty {
            json.name("produced_to_visible_milliseconds")
            json.beginObject()
            json.member("p50", wait(0.5))
            json.member("p99", wait(0.99))
            json.member("max", wait(1))
            json.endObject()
        }
        json.endObject()
        return String(decoding: json.bytes, as: UTF8.self)
    }
}

/// `remint-bench growth`.
struct BenchGrowth: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "growth",
        abstract: "Measures the cost of an event for the whole worker, as backlog, apps and recent subjects grow.",
        discussion: """
            Each row is a separate worker, as in remint-bench worker. The first row has a small backlog, one app and few
            recent subjects. Each other row has more of one of these. The last row has more apps and subjects at once.
            Before the measurement, a worker answers twice as many users as it remembers, so that its memory is full. In
            each round, every worker drains its backlog while the other workers rest. The cost of an event is the
            worker's processor time, including the signature. HS256 shows most, because its signature is the cheapest.
            """)

    @Option(help: "RS256, ES256 or HS256.") var algorithm = "HS256"
    @Option(help: "Number of events in the backlog of the first row.") var events: Int?
    @Option(help: "Number of events in a larger backlog. Repeat the option for several rows.") var backlog: [Int] = []
    @Option(help: "Number of apps instead of 1, each with its own key ring. Repeat the option for several rows.")
    var apps: [Int] = []
    @Option(help: "Number of recent subjects instead of 1000. Repeat the option for several rows.")
    var subjects: [Int] = []
    @OptionGroup var measured: MeasuredProgram
    @OptionGroup var target: BenchBroker.Options
    @OptionGroup var options: BenchOptions

    func validate() throws {
        let counts = 1...1_000_000_000
        guard counts.contains(events ?? 1), backlog.allSatisfy(counts.contains) else {
            throw ValidationError("--events and --backlog are 1 to 1000000000")
        }
        guard apps.allSatisfy((1...1_000_000).contains) else { throw ValidationError("--apps is 1 to 1000000") }
        guard subjects.allSatisfy((0...1_000_000_000).contains) else {
            throw ValidationError("--subjects is 0 to 1000000000")
        }
    }

    /// The size of the load under which a worker is measured.
    private struct Size {
        let events: Int
        var apps = 1
        var subjects = 1000
    }

    private struct Row {
        let size: Size
        let stage: BenchStage
        var drains: [WorkerResult.Drain] = []

        /// Seconds of processor time for an event, round by round.
        var costs: [Double] { drains.map(\.cpuSecondsPerEvent) }
    }

    /// The first row, then the rows to compare with it. The embedded broker keeps little, and does not suit large
    /// figures.
    private var sizes: [Size] {
        let isEmbedded = target.isEmbedded
        let first = Size(events: events ?? (isEmbedded ? 5000 : 50_000))
        let backlogs = backlog.isEmpty ? [first.events * (isEmbedded ? 2 : 10)] : backlog
        let apps = self.apps.isEmpty ? [isEmbedded ? 100 : 1000] : self.apps
        let subjects = self.subjects.isEmpty ? [isEmbedded ? 5000 : 1_000_000] : self.subjects
        let most = Size(events: first.events, apps: apps.max() ?? 1, subjects: subjects.max() ?? 1000)
        return [first] + backlogs.map { Size(events: $0) } + apps.map { Size(events: first.events, apps: $0) }
            + subjects.map { Size(events: first.events, subjects: $0) } + [most]
    }

    func run() async throws {
        let app = try BenchApp.named(algorithm)
        let rows = try await target.withBroker { broker in
            var rows: [Row] = []
            var progress = ProgressLine()
            do {
                try await fill(&rows, app, broker, &progress)
                try await measure(&rows, &progress)
            } catch {
                progress.clear()
                for row in rows { await row.stage.end() }
                throw error
            }
            progress.clear()
            for row in rows { await row.stage.end() }
            return rows
        }
        options.json ? printJSON(rows) : printTable(rows)
    }

    /// Starts the workers, each with a full memory, and lets them rest.
    private func fill(
        _ rows: inout [Row], _ app: BenchApp, _ broker: BenchBroker, _ progress: inout ProgressLine
    ) async throws {
        for (index, size) in sizes.enumerated() {
            progress.show(index, of: sizes.count, "filling memories")
            let stage = try await BenchStage(
                app, broker, program: measured.url, apps: size.apps, subjects: size.subjects)
            rows.append(Row(size: size, stage: stage))
            _ = try await stage.start()
            try await stage.answer(size.subjects * 2)
            try await stage.rest()
        }
    }

    private func measure(_ rows: inout [Row], _ progress: inout ProgressLine) async throws {
        for round in 0..<options.rounds {
            for index in rows.indices {
                let step = round * rows.count + index
                progress.show(step, of: options.rounds * rows.count, "round \(round + 1) of \(options.rounds)")
                try await rows[index].stage.feed(rows[index].size.events)
                rows[index].drains.append(try await rows[index].stage.drain())
                try await rows[index].stage.rest()
            }
        }
    }

    private func printTable(_ rows: [Row]) {
        var table = TextTable("backlog", "apps", "subjects", "µs an event", "to the first row", "events/s")
        for row in rows {
            table.add(
                "\(row.size.events)", "\(row.size.apps)", "\(row.size.subjects)",
                Spread(row.costs.map { $0 * 1e6 }).text(2), Spread.ratio(row.costs, of: rows[0].costs).text(2),
                Spread(row.drains.map(\.eventsPerSecond)).text())
        }
        for line in table.lines { Terminal.print(line) }
    }

    private func printJSON(_ rows: [Row]) {
        options.printJSON("growth", of: rows) { json, row in
            json.member("backlog", Int64(row.size.events))
            json.member("apps", Int64(row.size.apps))
            json.member("subjects", Int64(row.size.subjects))
            json.member("microseconds_per_event", Spread(row.costs.map { $0 * 1e6 }))
            json.member("ratio_to_first", Spread.ratio(row.costs, of: rows[0].costs))
            json.member("events_per_second", Spread(row.drains.map(\.eventsPerSecond)))
        }
    }
}
