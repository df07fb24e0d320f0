import AdapterKit
import ArgumentParser
import Kafka
import Logging
import Operations
import Pipeline
import Worker
import WorkerConfiguration

/// `remint dead-letters redrive`.
struct DeadLettersRedrive: AsyncParsableCommand, ConfigurationCommand {
    static let configuration = CommandConfiguration(
        commandName: "redrive",
        abstract: "Sends dead letters back to the topic from which a worker consumed their events.",
        discussion: .help(
            """
            The command begins where the last redrive with the same filter stopped, and reads to the current end of the
            topic. Each filter has its own consumer group. So an interrupted redrive continues where it stopped.

            The command publishes the letters before it commits the group's offsets. For each letter that it sends, it
            also writes an end record to the topic of parked letters, if that topic exists. If the worker delivers
            exactly once, one transaction contains the letters and their end records. The command does not send letters
            that are parked or have an end record. With --parked, the command sends the parked letters instead. Then only the end records keep the
            progress.

            The command writes each event only to the topic from which the worker consumed it. This topic may be an
            app's own topic. If the topic is no longer an input of the configuration, the letter stays. Some codes mean
            that the worker refused the event's origin or user
            (\(ErrorCode.allCases.filter(\.isAboutIdentity).map(\.rawValue).joined(separator: ", "))). The command sends
            letters with one of these codes only if --code names the code. Look at these letters first.

            A redriven event is a new record. Its age counts from the redrive, unless the event has the time of its
            failure. The command counts the letters that stay, by reason.

            The exit code is 75 if the command could not publish everything. It is 1 if letters stay because their topic
            is no longer an input. Otherwise it is 0, even if other letters stay.
            """,
            examples: """
                remint dead-letters redrive --config remint.yaml --app web --dry-run
                remint dead-letters redrive --config remint.yaml --code key_unavailable
                """))

    @OptionGroup var letters: DeadLetterOptions
    var options: ConfigurationOptions { letters.options }
    var brokers: String? { letters.brokers }
    @Flag(help: "Send only parked letters.") var parked = false
    @Flag(help: "List each letter with its target topic, or with the reason why the letter stays. Send nothing.")
    var dryRun = false
    @Option(help: "Maximum number of letters per second; 0 for no limit.") var rate = 500
    @Option(
        help: """
            Maximum number of redrives of an event: after them, its letters stay. A producer can write a higher count \
            into its own events, so that their letters stay.
            """)
    var maxRedrives = 3
    @Option(help: "The consumer group that keeps the progress. Default: one per filter.") var group: String?
    @Flag(help: "Print the result as JSON.") var json = false

    func validate() throws {
        guard (0...1_000_000).contains(rate) else { throw ValidationError("--rate is 0 to 1000000") }
        guard maxRedrives > 0 else { throw ValidationError("--max-redrives is at least 1") }
        guard !parked || group == nil else { throw ValidationError("--group and --parked exclude each other") }
    }

    func run() async throws {
        if parked {
            var output = ParkingOutput()
            (output.dryRun, output.json) = (dryRun, json)
            return try await output.run(.redrive(maximumRedrives: maxRedrives), letters, rate: rate, "sent back")
        }
        let filter = try letters.filter()
        let (configuration, brokers, logger) = try letters.load()
        let group = group ?? Self.group(for: filter, of: configuration)
        let run = RedriveRun(
            configuration: configuration, filter: filter, maximumRedrives: maxRedrives, isDryRun: dryRun, rate: rate,
            now: CommandContext.current.now(), display: ProgressLines.display(), plan: PlannedLetter.printer(json: json)
        )
        let result = try await run.run(brokers: brokers, group: group, logger: logger)
        result.report("sent back", isDryRun: dryRun, group: group, json: json)
        if let code = result.exitCode { throw code }
    }

    /// Returns the consumer group of a redrive; the same filter has the same group.
    private static func group(for filter: DeadLetterFilter, of configuration: Configuration) -> String {
        let digest = SHA256.hash(Array(filter.description.utf8)).prefix(4)
        let name = digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        return "\(configuration.kafka.group)-redrive-\(name)"
    }
}

extension PlannedLetter {
    /// Returns a function that prints each letter in a line: its place, when it died, its app, code, origin, and the topic it would go to.
    static func printer(json: Bool) -> PlannedLetterDisplay {
        { letter in Terminal.print(json ? letter.json : letter.line) }
    }

    private var line: String {
        let end =
            switch target {
            case .success(let topic): "would go to \(topic)"
            case .failure(let refused): "stays: \(refused.reason)"
            }
        let shown = entry.shown
        return [entry.place.text, shown.failedAt, shown.app, shown.code, shown.origin, end].joined(separator: "  ")
    }

    private var json: String {
        var json = JSONWriter()
        json.beginObject()
        entry.writeNames(to: &json)
        json.memberIfAny("origin", entry.origin?.text)
        switch target {
        case .success(let topic): json.member("would_go_to", topic)
        case .failure(let refused): json.member("stays", refused.reason.description)
        }
        json.endObject()
        return json.printable
    }
}
