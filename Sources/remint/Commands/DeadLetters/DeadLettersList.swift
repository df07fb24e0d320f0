import AdapterKit
import ArgumentParser
import Kafka
import Logging
import Operations
import Pipeline
import Worker
import WorkerConfiguration

/// `remint dead-letters list`.
struct DeadLettersList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Lists dead letters: when, which app, why, where from. Never a payload.",
        discussion: "Reads the topic from its beginning to where it ends now; commits nothing.")

    @OptionGroup var letters: DeadLetterOptions
    @Option(help: "The most to show; the latest are shown.") var limit = 1000
    @Flag(help: "Print the list as JSON, a line each.") var json = false

    func validate() throws {
        guard limit > 0 else { throw ValidationError("--limit is at least 1") }
    }

    func run() async throws {
        let filter = try letters.filter()
        let (configuration, brokers, logger) = try letters.load()
        let now = UnixTime.system()
        let decoder = configuration.deadLetterDecoder
        var found: [DeadLetterEntry] = []
        var total = 0
        var progress = ProgressLine()
        let reader = try await TopicReader(
            configuration.topics.deadLetters, configuration, brokers: brokers, logger: logger)
        try await reader.readAll { record, done, all in
            let entry = DeadLetterEntry(InputRecord(deadLetter: record), decoder: decoder)
            progress.show(done, of: all, "\(total) found")
            guard filter.matches(entry, at: now) else { return }
            total += 1
            found.append(entry)
            // Twice as many are kept before the older half goes, so that each is moved once.
            if found.count >= limit * 2 { found = Self.latest(found, limit) }
        }
        progress.clear()
        let shown = Self.latest(found, limit)
        json ? printJSON(shown) : printTable(shown, total: total)
    }

    private static func latest(_ entries: [DeadLetterEntry], _ limit: Int) -> [DeadLetterEntry] {
        let sorted = entries.sorted { ($0.failedAt?.microseconds ?? .min) < ($1.failedAt?.microseconds ?? .min) }
        return sorted.suffix(limit)
    }

    private func printTable(_ entries: [DeadLetterEntry], total: Int) {
        var table = TextTable(
            "FAILED AT", "APP", "CODE", "STAGE", "ORIGIN", "ATTEMPTS", "REDRIVES", "BYTES", "DETAIL")
        for entry in entries {
            table.add(
                entry.failedAt?.description ?? "-", entry.app?.printable(limit: 40) ?? "-", entry.code?.rawValue ?? "-",
                entry.stage?.rawValue ?? "-", entry.origin.map { $0.text.printable() } ?? "-", String(entry.attempts),
                String(entry.redrives), entry.isReference ? "(\(entry.valueBytes))" : String(entry.valueBytes),
                entry.detail.printable())
        }
        for line in table.lines { Terminal.print(line) }
        let count = total == 1 ? "1 dead letter" : "\(total) dead letters"
        Terminal.error(total > entries.count ? "\(count), the latest \(entries.count) shown" : count)
    }

    private func printJSON(_ entries: [DeadLetterEntry]) {
        for entry in entries {
            var json = JSONWriter()
            json.beginObject()
            func member(_ name: String, _ text: String?) { if let text { json.member(name, text) } }
            member("failed_at", entry.failedAt?.description)
            member("app", entry.app)
            member("event_id", entry.eventID)
            member("code", entry.code?.rawValue)
            member("stage", entry.stage?.rawValue)
            member("detail", entry.detail)
            if !entry.history.isEmpty { member("history", entry.history) }
            if let origin = entry.origin {
                member("topic", origin.topic)
                json.member("partition", Int64(origin.partition))
                json.member("offset", origin.offset)
            }
            json.member("attempts", Int64(entry.attempts))
            json.member("redrives", Int64(entry.redrives))
            json.member("value_bytes", Int64(entry.valueBytes))
            json.name("by_reference")
            json.bool(entry.isReference)
            json.endObject()
            Terminal.print(String(decoding: json.bytes, as: UTF8.self))
        }
    }
}

extension RecordPosition {
    /// `topic/partition/offset`.
    var text: String { "\(topic)/\(partition)/\(offset)" }
}
