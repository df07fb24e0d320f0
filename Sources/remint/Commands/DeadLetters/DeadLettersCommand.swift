import AdapterKit
import ArgumentParser
import Kafka
import Logging
import Pipeline
import Worker
import WorkerConfiguration

/// `remint dead-letters`: what could not be answered, and another try.
struct DeadLettersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dead-letters", abstract: "Lists dead letters and sends them back.",
        subcommands: [DeadLettersList.self, DeadLettersRedrive.self])
}

/// Which dead letters are meant, and where they are.
struct DeadLetterOptions: ParsableArguments {
    @OptionGroup var options: ConfigurationOptions
    @Option(help: "Only of this app.") var app: String?
    @Option(help: "Only with this code, such as key_unavailable.") var code: String?
    @Option(help: "Only from this stage: decode, admit, resolve, mint or publish.") var stage: String?
    @Option(help: ArgumentHelp("Only those that died within this time.", valueName: "1h")) var newerThan: String?
    @Option(help: ArgumentHelp("Only those that died longer ago.", valueName: "1h")) var olderThan: String?
    @Option(help: "The brokers, instead of the configured ones; needed for an embedded broker.") var brokers: String?

    func validate() throws { _ = try filter() }

    /// - Throws: `ValidationError` that names what there is.
    func filter() throws -> DeadLetterFilter {
        var filter = DeadLetterFilter()
        filter.app = app
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

    /// The configuration, and the brokers to ask.
    func load() throws -> (configuration: Configuration, brokers: String, logger: Logger) {
        guard let configuration = try options.load().configuration else { throw ExitCode.failure }
        return (configuration, try configuration.brokers(instead: brokers), Logger.quiet(configuration.log))
    }
}

extension Configuration {
    /// Reads an event's app and id out of a dead letter, however large it is.
    var deadLetterDecoder: EventDecoder { EventDecoder(maximumBytes: worker.maximumEventBytes) }
}

extension InputRecord {
    /// A dead letter as the pipeline reads it.
    convenience init(deadLetter record: ConsumedRecord) {
        self.init(
            origin: RecordPosition(
                topic: record.position.topic, partition: record.position.partition, offset: record.position.offset),
            timestamp: nil, key: record.key, value: record.value,
            headers: record.headers.map { RecordHeader($0.name, $0.value) },
            // Like a retry's, its headers are a worker's and say where the event first stood.
            lane: .retries)
    }
}
