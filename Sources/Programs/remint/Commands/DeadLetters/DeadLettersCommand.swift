import AdapterKit
import ArgumentParser
import Kafka
import Logging
import Pipeline
import Preflight
import Worker
import WorkerConfiguration

/// `remint dead-letters`: the events that could not be answered, and redrives.
struct DeadLettersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dead-letters", abstract: "Lists dead letters, sends them back, sets them aside.",
        subcommands: [DeadLettersList.self, DeadLettersRedrive.self, DeadLettersPark.self, DeadLettersUnpark.self])
}

/// The options that select dead letters, and the brokers that hold them.
struct DeadLetterOptions: ParsableArguments {
    @OptionGroup var options: ConfigurationOptions
    @Option(help: "Only of this app.") var app: String?
    @Option(help: "Only with this code, such as key_unavailable.") var code: String?
    @Option(help: "Only the event with this id.") var id: String?
    @Option(help: "Only from this stage: decode, admit, resolve, mint or publish.") var stage: String?
    @Option(help: ArgumentHelp("Only letters of at most this age.", valueName: "1h")) var newerThan: String?
    @Option(help: ArgumentHelp("Only letters older than this.", valueName: "1h")) var olderThan: String?
    @Option(help: "The brokers, instead of the configured ones; needed for an embedded broker.") var brokers: String?

    func validate() throws { _ = try filter() }

    /// - Throws: `ValidationError` that names the known values.
    func filter() throws -> DeadLetterFilter {
        var filter = DeadLetterFilter()
        filter.app = app
        filter.eventID = id
        if let code {
            guard let known = ErrorCode(rawValue: code) else {
                throw ValidationError(
                    "--code is one of \(ErrorCode.allCases.map(\.rawValue).joined(separator: ", "))")
            }
            filter.code = known
        }
        if let stage {
            guard let known = Stage(rawValue: stage) else {
                throw ValidationError("--stage is one of decode, admit, resolve, mint, publish")
            }
            filter.stage = known
        }
        filter.newerThan = try seconds(newerThan, "--newer-than")
        filter.olderThan = try seconds(olderThan, "--older-than")
        return filter
    }

    private func seconds(_ text: String?, _ name: String) throws -> Int64? {
        guard let text else { return nil }
        guard let duration = DurationText.parse(text) else {
            throw ValidationError("\(name) is a duration such as 30s, 10m, 1h or 7d")
        }
        return duration.components.seconds
    }

    /// Loads the configuration, and returns it with the brokers to ask.
    func load() throws -> (configuration: Configuration, brokers: String, logger: Logger) {
        guard let configuration = try options.load().configuration else { throw ExitCode.failure }
        return (configuration, try configuration.brokers(instead: brokers), Logger.quiet(configuration.log))
    }
}
