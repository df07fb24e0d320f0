import AdapterKit
import ArgumentParser
import Formats
import Kafka
import Logging
import Operations
import Pipeline
import Worker
import WorkerConfiguration

/// `remint dead-letters list`.
struct DeadLettersList: AsyncParsableCommand, ConfigurationCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Lists dead letters with time, app, reason and origin, without their payloads.",
        discussion: .help(
            """
            The command reads the topic from its beginning to its current end, and commits nothing. It counts the
            letters that are parked, or were redriven or unparked, but does not list them. --parked lists the parked
            letters instead.
            """,
            examples: """
                remint dead-letters list --config remint.yaml --app web --newer-than 1h
                remint dead-letters list --config remint.yaml --parked --json
                """))

    @OptionGroup var letters: DeadLetterOptions
    var options: ConfigurationOptions { letters.options }
    var brokers: String? { letters.brokers }
    @Option(help: "Maximum number of letters. If there are more, the command lists the latest ones.") var limit = 1000
    @Flag(help: "List the parked letters, with time, operator and reason.") var parked = false
    @Flag(help: "Print the list as JSON, one line for each letter.") var json = false

    func validate() throws {
        guard (1...10_000_000).contains(limit) else { throw ValidationError("--limit is 1 to 10000000") }
    }

    func run() async throws {
        let filter = try letters.filter()
        let (configuration, brokers, logger) = try letters.load()
        let now = CommandContext.current.now()
        let decoder = configuration.deadLetterDecoder
        let states = try await LetterStates.read(configuration, brokers: brokers, logger: logger) ?? LetterStates()
        var found: [Shown] = []
        var seen: Set<LetterName> = []
        var handled = 0
        var total = 0
        var progress = ProgressLines.display()
        let reader = try await TopicReader(
            parked ? configuration.topics.parkedLetters : configuration.topics.deadLetters, configuration,
            brokers: brokers, logger: logger)
        try await reader.readAll { record, done, all in
            let input = InputRecord(deadLetter: record)
            var entry = DeadLetterEntry(input, decoder: decoder, at: now)
            let letter = parked ? ParkedLetter(input) : nil
            if let letter { entry.place = letter.name.place }
            progress.show(done, of: all, "\(total) found")
            guard filter.matches(entry, at: now) else { return }
            if parked {
                guard let letter, states[letter.name] == .parked, seen.insert(letter.name).inserted else { return }
            } else if let name = LetterName(input), states[name] != nil {
                return handled += 1
            }
            total += 1
            found.append(Shown(entry: entry, parked: letter))
            // Twice as many are kept before the older half goes, so that each is moved once.
            if found.count >= limit * 2 { found = Self.latest(found, limit) }
        }
        progress.clear()
        let shown = Self.latest(found, limit)
        json ? printJSON(shown) : printTable(shown, total: total, handled: handled)
    }

    /// A dead letter, with its parking where the command asks for it.
    private struct Shown {
        let entry: DeadLetterEntry
        let parked: ParkedLetter?
    }

    private static func latest(_ entries: [Shown], _ limit: Int) -> [Shown] {
        let sorted = entries.sorted {
            ($0.entry.failedAt?.microseconds ?? .min) < ($1.entry.failedAt?.microseconds ?? .min)
        }
        return sorted.suffix(limit)
    }

    private func printTable(_ letters: [Shown], total: Int, handled: Int) {
        var table = TextTable(
            "LETTER", "FAILED AT", "APP", "EVENT", "CODE", "STAGE", "ORIGIN", "ATTEMPTS", "REDRIVES", "BYTES",
            parked ? "PARKED" : "DETAIL")
        for letter in letters {
            let entry = letter.entry, shown = entry.shown
            table.add(
                entry.place.text, shown.failedAt, shown.app, entry.eventID?.printable(limit: 40) ?? "-", shown.code,
                entry.stage?.rawValue ?? "-", shown.origin,
                String(entry.attempts),
                String(entry.redrives), entry.isReference ? "(\(entry.valueBytes))" : String(entry.valueBytes),
                letter.parked.map(Self.parking) ?? entry.detail.printable())
        }
        for line in table.lines { Terminal.print(line) }
        let kind = parked ? "parked dead letter" : "dead letter"
        let count = total.of(kind)
        let aside = handled == 0 ? "" : "; \(handled) parked or dealt with already, not shown"
        Terminal.error((total > letters.count ? "\(count), the latest \(letters.count) shown" : count) + aside)
    }

    private static func parking(_ letter: ParkedLetter) -> String {
        let author = letter.by.isEmpty ? "" : " by \(letter.by.printable(limit: 40))"
        return "\(letter.at?.description ?? "-")\(author): \(letter.reason.printable(limit: 300))"
    }

    private func printJSON(_ letters: [Shown]) {
        for letter in letters {
            let entry = letter.entry
            var json = JSONWriter()
            json.beginObject()
            entry.writeNames(to: &json)
            json.memberIfAny("stage", entry.stage?.rawValue)
            json.memberIfAny("detail", entry.detail)
            if !entry.history.isEmpty { json.member("history", entry.history) }
            if let origin = entry.origin {
                json.member("topic", origin.topic)
                json.member("partition", Int64(origin.partition))
                json.member("offset", origin.offset)
            }
            json.member("attempts", Int64(entry.attempts))
            json.member("redrives", Int64(entry.redrives))
            json.member("value_bytes", Int64(entry.valueBytes))
            json.name("by_reference")
            json.bool(entry.isReference)
            json.memberIfAny("parked_at", letter.parked?.at?.description)
            json.memberIfAny("parked_by", letter.parked?.by)
            json.memberIfAny("parked_reason", letter.parked?.reason)
            json.endObject()
            Terminal.print(json.printable)
        }
    }
}
