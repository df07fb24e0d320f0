import AdapterKit
import ArgumentParser
import Bench
import CommandKit

/// `remint-bench admission`.
struct BenchAdmission: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "admission",
        abstract: "Measures the cost of an event without its signature, as recent subjects and apps grow.",
        discussion: """
            The command processes events of different users, from the record to the replacement token, with a signer
            that does nothing. Each row has its own number of recent subjects in memory, and its own number of apps. The
            command measures all rows in turn.
            """)

    @Option(help: "Number of recent subjects in memory. Repeat the option for several rows.")
    var subjects: [Int] = []
    @Option(help: "Number of apps of the events. Repeat the option for several rows.") var apps: [Int] = []
    @Option(help: "Number of events in each measurement.") var events = 50_000
    @OptionGroup var options: BenchOptions

    func validate() throws {
        guard subjects.allSatisfy((0...1_000_000_000).contains) else {
            throw ValidationError("--subjects is 0 to 1000000000")
        }
        guard apps.allSatisfy((1...1_000_000).contains) else { throw ValidationError("--apps is 1 to 1000000") }
        guard (1...1_000_000_000).contains(events) else { throw ValidationError("--events is 1 to 1000000000") }
    }

    private struct Row {
        let apps: Int
        let subjects: Int
        let course: EventCourse
        var seconds: [Double] = []
    }

    func run() async throws {
        var rows: [Row] = []
        for apps in self.apps.isEmpty ? [1, 1000] : self.apps {
            for subjects in self.subjects.isEmpty ? [1000, 100_000, 1_000_000] : self.subjects {
                let course = try EventCourse(
                    of: BenchApp("HS256"), apps: apps, subjects: subjects, now: UnixTime.system)
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
