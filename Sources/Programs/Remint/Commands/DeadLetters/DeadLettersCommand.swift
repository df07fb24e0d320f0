import AdapterKit
import ArgumentParser
import Formats
import Kafka
import Logging
import Operations
import Pipeline
import Preflight
import Worker
import WorkerConfiguration
import YAMLReading

/// `remint dead-letters`: the events that could not be answered, and redrives.
struct DeadLettersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dead-letters",
        abstract: "Lists and shows dead letters, sends their events again, and sets letters aside.",
        discussion: .help(
            examples: """
                remint dead-letters list --config remint.yaml --newer-than 1h
                remint dead-letters show 0/41 --config remint.yaml
                """),
        subcommands: [
            DeadLettersList.self, DeadLettersShow.self, DeadLettersRedrive.self, DeadLettersPark.self,
            DeadLettersUnpark.self,
        ])
}

/// The options that select dead letters, and the brokers that hold them.
struct DeadLetterOptions: ParsableArguments {
    @OptionGroup var options: ConfigurationOptions
    @Option(help: "Only letters of this app.") var app: String?
    @Option(help: "Only letters with this code, such as key_unavailable.") var code: String?
    @Option(help: "Only letters of the event with this id.") var id: String?
    @Option(
        help: ArgumentHelp("Only the letter at this position, from the output of list.", valueName: "partition/offset"))
    var letter: String?
    @Option(help: "Only letters from this stage: \(Stage.allCases.map(\.rawValue).joined(separator: ", ")).")
    var stage: String?
    @Option(
        help: ArgumentHelp(
            "Only letters whose event a worker consumed from this topic, partition or offset.",
            valueName: "topic[/partition[/offset]]"))
    var origin: String?
    @Option(help: ArgumentHelp("Only letters that failed at this time or later.", valueName: "2026-11-26T10:00:00Z"))
    var since: String?
    @Option(help: ArgumentHelp("Only letters that failed before this time.", valueName: "2026-11-26T11:00:00Z"))
    var until: String?
    @Option(help: ArgumentHelp("Only letters of at most this age.", valueName: "1h")) var newerThan: String?
    @Option(help: ArgumentHelp("Only letters older than this age.", valueName: "1h")) var olderThan: String?
    @Option(help: "The brokers, instead of the configured ones. Required for an embedded broker without a fixed port.")
    var brokers: String?

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
                throw ValidationError("--stage is one of \(Stage.allCases.map(\.rawValue).joined(separator: ", "))")
            }
            filter.stage = known
        }
        if let letter {
            filter.place = try Self.place(letter, "--letter")
        }
        if let origin {
            guard let choice = OriginChoice(origin) else {
                throw ValidationError("--origin is a topic, topic/partition or topic/partition/offset")
            }
            filter.origin = choice
        }
        filter.since = try time(since, "--since")
        filter.until = try time(until, "--until")
        filter.newerThan = try seconds(newerThan, "--newer-than")
        filter.olderThan = try seconds(olderThan, "--older-than")
        return filter
    }

    /// Returns the place that `text` names.
    ///
    /// - Throws: `ValidationError` with the name of the option or argument.
    static func place(_ text: String, _ name: String) throws -> LetterPlace {
        guard let place = LetterPlace(text) else {
            throw ValidationError("\(name) is partition/offset, such as 0/41, as `remint dead-letters list` shows it")
        }
        return place
    }

    private func time(_ text: String?, _ name: String) throws -> UnixTime? {
        guard let text else { return nil }
        guard let time = RFC3339.parse(text) else {
            throw ValidationError("\(name) is a time such as 2026-11-26T10:00:00Z")
        }
        return time
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
        options.warnOfUnknown(app: app, in: configuration)
        return (configuration, try configuration.brokers(instead: brokers), Logger.quiet(configuration.log))
    }
}

extension DeadLetterEntry {
    /// The columns of a letter in every listing, safe for a terminal; `-` where a value is unknown.
    var shown: (failedAt: String, app: String, code: String, origin: String) {
        (
            failedAt?.description ?? "-", app?.printable(limit: 40) ?? "-", code?.rawValue ?? "-",
            origin.map { $0.text.printable() } ?? "-"
        )
    }

    /// Writes the members that every listing of letters begins with.
    func writeNames(to json: inout JSONWriter) {
        json.member("letter", place.text)
        json.memberIfAny("failed_at", failedAt?.description)
        json.memberIfAny("app", app)
        json.memberIfAny("event_id", eventID)
        json.memberIfAny("code", code?.rawValue)
    }
}

extension JSONWriter {
    /// Writes the member `name`, where there is a `text`.
    mutating func memberIfAny(_ name: String, _ text: String?) { if let text { member(name, text) } }
}

extension RecordPosition {
    /// `topic/partition/offset`.
    var text: String { "\(topic)/\(partition)/\(offset)" }
}
