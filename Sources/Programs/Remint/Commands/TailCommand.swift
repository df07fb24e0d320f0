import AdapterKit
import ArgumentParser
import CommandKit
import Formats
import Kafka
import Logging
import Operations
import WorkerConfiguration

/// `remint tail`: the records of the topics as they come.
struct TailCommand: AsyncParsableCommand, ConfigurationCommand {
    static let configuration = CommandConfiguration(
        commandName: "tail", abstract: "Shows tokens and dead letters as they come, without secrets.",
        discussion: .help(
            """
            The command prints a line for each record, until SIGINT or until --count lines. For a token, the line has
            the algorithm, the key, the expiry, the names of the claims and a short digest, but never the token. The
            command shows ids of users. It joins no group and commits nothing.
            """,
            examples: """
                remint tail --config remint.yaml --app web --user u-42
                remint tail --config remint.yaml --events --from 10m --json
                """))

    @OptionGroup var options: ConfigurationOptions
    @Option(help: "Only records of this app.") var app: String?
    @Option(help: "Only records about the user with this id.") var user: String?
    @Flag(help: "Show the events on the input topics, too.") var events = false
    @Option(help: ArgumentHelp("The first record: beginning, end, an age such as 10m, or a time.", valueName: "place"))
    var from = "end"
    @Option(help: "Stop after this many lines.") var count: Int?
    @Option(help: "The brokers, instead of the configured ones. Required for an embedded broker without a fixed port.")
    var brokers: String?
    @Flag(help: "Print each record as JSON.") var json = false

    func validate() throws {
        _ = try start(at: CommandContext.current.now())
        if let count, count < 1 { throw ValidationError("--count is 1 or more") }
    }

    func run() async throws {
        let configuration = try options.loadConfiguration()
        options.warnOfUnknown(app: app, in: configuration)
        let topics =
            [configuration.topics.tokens, configuration.topics.deadLetters] + (events ? configuration.eventTopics : [])
        let tail = try await TopicTail(
            of: topics, from: try start(at: CommandContext.current.now()), configuration,
            brokers: try configuration.brokers(instead: brokers), logger: .quiet(configuration.log))
        Terminal.error("remint: reads \(topics.joined(separator: ", ")) from: \(from)")
        let reader = TailReader(configuration), filter = TailFilter(app: app, user: user)
        var left = count ?? .max
        try await tail.follow { record in
            let shown = reader.read(record, at: CommandContext.current.now())
            guard filter.matches(shown) else { return true }
            Terminal.print(json ? String(decoding: shown.json, as: UTF8.self) : shown.line.printable(limit: 2000))
            left -= 1
            return left > 0
        }
    }

    /// Returns the place that `--from` names.
    ///
    /// - Throws: `ValidationError` for any other word.
    private func start(at now: UnixTime) throws -> TopicTail.Start {
        switch from {
        case "beginning": return .beginning
        case "end": return .end
        default:
            if let age = DurationText.parse(from) {
                return .time(now.advanced(bySeconds: -age.components.seconds))
            }
            guard let time = RFC3339.parse(from) else {
                throw ValidationError(
                    "--from is beginning, end, an age such as 10m, or a time such as 2026-11-26T10:00:00Z")
            }
            return .time(time)
        }
    }
}
