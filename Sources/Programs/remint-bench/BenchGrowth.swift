import ArgumentParser
import Bench
import CommandKit
import JOSE

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
