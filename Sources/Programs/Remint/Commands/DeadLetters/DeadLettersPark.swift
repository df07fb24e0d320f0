import AdapterKit
import ArgumentParser
import CommandKit
import Formats
import Foundation
import Kafka
import Logging
import Operations
import Pipeline
import WorkerConfiguration

/// `remint dead-letters park`.
struct DeadLettersPark: AsyncParsableCommand, ConfigurationCommand {
    static let configuration = CommandConfiguration(
        commandName: "park", abstract: "Sets dead letters aside, so that list, status and redrive ignore them.",
        discussion: .help(
            """
            The command copies the letters to the topic of parked letters. Its name is the name of the dead letters'
            topic, with .parked appended. List, status and redrive ignore these letters until you unpark them, or
            redrive them with --parked. The command skips letters that are parked or were sent back. So if a run was
            interrupted, run the command again. The exit code is 75 if the command could not publish everything.
            """,
            examples: """
                remint dead-letters park --config remint.yaml --app web --reason "Monday"
                remint dead-letters park --config remint.yaml --letter 0/41 --reason OPS-7
                """))

    @OptionGroup var letters: DeadLetterOptions
    var options: ConfigurationOptions { letters.options }
    var brokers: String? { letters.brokers }
    @OptionGroup var output: ParkingOutput
    @Option(help: "The reason.") var reason: String
    @Option(help: "The operator's name. Default: the account's name.") var by: String?

    func validate() throws {
        guard 1...500 ~= reason.utf8.count, (by ?? "").utf8.count <= 200 else {
            throw ValidationError("--reason has from 1 to 500 bytes, --by 200 at most")
        }
    }

    func run() async throws {
        let parking = Parking(at: CommandContext.current.now(), by: by ?? NSUserName(), reason: reason)
        try await output.run(.park(parking), letters, rate: 0, "parked")
    }
}

/// `remint dead-letters unpark`.
struct DeadLettersUnpark: AsyncParsableCommand, ConfigurationCommand {
    static let configuration = CommandConfiguration(
        commandName: "unpark", abstract: "Returns parked letters to the dead letters.",
        discussion: .help(
            """
            The command writes the letters to the end of the dead letters' topic, where list, status and redrive find
            them. If a run was interrupted, run the command again. The exit code is 75 if the command could not publish
            everything.
            """,
            examples: """
                remint dead-letters unpark --config remint.yaml --app web --dry-run
                remint dead-letters unpark --config remint.yaml --letter 0/41
                """))

    @OptionGroup var letters: DeadLetterOptions
    var options: ConfigurationOptions { letters.options }
    var brokers: String? { letters.brokers }
    @OptionGroup var output: ParkingOutput

    func run() async throws { try await output.run(.unpark, letters, rate: 0, "unparked") }
}

/// The options of a run over parked letters, and of its output.
struct ParkingOutput: ParsableArguments {
    @Flag(help: "List each letter with its target topic, or with the reason why the letter stays. Write nothing.")
    var dryRun = false
    @Flag(help: "Print the result as JSON.") var json = false

    /// Does `work` with the letters that `letters` matches; `done` is the word for it.
    ///
    /// - Throws: `ExitCode`, see `RedriveRun.Result.exitCode`.
    func run(_ work: LetterWork, _ letters: DeadLetterOptions, rate: Int, _ done: String) async throws {
        let filter = try letters.filter()
        let (configuration, brokers, logger) = try letters.load()
        let order = LetterOrder(work, filter, configuration, now: CommandContext.current.now())
        let run = ParkingRun(
            configuration: configuration, order: order, isDryRun: dryRun, rate: rate,
            display: ProgressLines.display(), plan: PlannedLetter.printer(json: json))
        let result = try await run.run(brokers: brokers, logger: logger)
        result.report(done, isDryRun: dryRun, group: nil, json: json)
        if let code = result.exitCode { throw code }
    }
}

extension RedriveRun.Result {
    /// The exit code of the run; nil for 0. Letters that stay for any other reason are no failure of the run.
    var exitCode: ExitCode? {
        if failure != nil { return ExitCode(75) }
        return refused[.noLongerInput] == nil ? nil : .failure
    }

    /// Prints the counts of a run on dead letters.
    ///
    /// - Parameters:
    ///   - done: the word for the work that was done.
    ///   - group: the consumer group that keeps the progress; nil for none.
    func report(_ done: String, isDryRun: Bool, group: String?, json: Bool) {
        if let failure { Terminal.error("remint: not everything was published: \(failure)") }
        if let lost = refused[.noLongerInput] {
            Terminal.error(
                "remint: \(lost.of("dead letter comes", "dead letters come")) from topics that are no inputs of the configuration; --dry-run names them. Add the topic to topics or apps.*.topics again, or leave the letters"
            )
        }
        if json {
            var writer = JSONWriter()
            writer.beginObject()
            writer.name("dry_run")
            writer.bool(isDryRun)
            if let group { writer.member("group", group) }
            writer.member(done == "sent back" ? "redriven" : done, Int64(redriven))
            writer.member("other", Int64(unmatched))
            var named: Set<String> = []
            for name in Redrive.Refusal.allCases.map(\.name) where named.insert(name).inserted {
                let count = refused.reduce(0) { $0 + ($1.key.name == name ? $1.value : 0) }
                writer.member(name == done ? "\(name)_already" : name, Int64(count))
            }
            writer.endObject()
            Terminal.print(writer.printable)
            return
        }
        let refused = refused.map { (reason: $0.key.description, count: $0.value) }
            .sorted { $0.reason < $1.reason }.map { "\($0.count) \($0.reason)" }
        let left = (refused + ["\(unmatched) not meant"]).joined(separator: ", ")
        let count = redriven.of("dead letter")
        let progress = group.map { "; group \($0)" } ?? ""
        Terminal.print("\(count) \(isDryRun ? "would be " : "")\(done); left: \(left)\(progress)")
    }
}
