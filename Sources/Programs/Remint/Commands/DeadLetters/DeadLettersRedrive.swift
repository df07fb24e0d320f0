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
        commandName: "redrive", abstract: "Sends dead letters back to the topic their event was consumed from.",
        discussion: .help(
            """
            Reads from where the last redrive with the same filter stopped to where the topic ends now; each filter has a
            consumer group of its own, so that an interrupted redrive continues where it stopped. Letters are published
            before the group's offsets are committed, and marked on the topic of parked letters where there is one, in one
            transaction where the worker delivers exactly once: what is marked or parked is not sent again. With --parked those
            are sent that are parked; marks alone keep their progress.

            Each event is written to the very topic that the worker consumed it from, also an app's own, and to no other: where
            that topic is no input of the configuration any more, the letter stays. Letters that were refused for whose they are
            (\(ErrorCode.allCases.filter(\.isAboutIdentity).map(\.rawValue).joined(separator: ", "))) are sent only where
            --code names their code; look at them first. A redriven event is a new record: its age counts from the redrive,
            unless it states when its failure was observed. Letters that stay are counted by reason.

            Exit codes: 75 where not everything could be published; 1 where letters stay because their topic is no longer an
            input; 0 otherwise, whatever else stays.
            """,
            examples: """
                remint dead-letters redrive --config remint.yaml --app web --dry-run
                remint dead-letters redrive --config remint.yaml --code key_unavailable
                """))

    @OptionGroup var letters: DeadLetterOptions
    var options: ConfigurationOptions { letters.options }
    var brokers: String? { letters.brokers }
    @Flag(help: "Send those that are parked, and no other.") var parked = false
    @Flag(help: "List each letter with the topic it would go to or why it stays, and send nothing.") var dryRun = false
    @Option(help: "The most letters a second; 0 for no limit.") var rate = 500
    @Option(
        help:
            "Letters that were redriven this often stay. A producer can write a higher count, and so keep its own events here."
    )
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
            now: UnixTime.system(), display: ProgressLines.display(), plan: PlannedLetter.printer(json: json))
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
