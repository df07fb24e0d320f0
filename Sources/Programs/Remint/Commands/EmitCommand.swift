import AdapterKit
import ArgumentParser
import Foundation
import JOSE
import Kafka
import Logging
import Preflight
import Wiring
import Worker
import WorkerConfiguration

/// `remint emit`: puts an event on the topic.
struct EmitCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "emit", abstract: "Puts an event on an input topic.",
        discussion: .help(
            """
            --user requests a new token for the user, as a batch job does. If the vendor identifies users by several
            ids, write a JSON object.

            --report sends an SDK's report from a file or, with -, from standard input. --vouched adds the user that you
            have authenticated, in the form that the adapter's README describes: {"user":"u-42"}.
            """,
            examples: """
                remint emit --config remint.yaml --app web --user u-42
                remint emit --config remint.yaml --app web --report report.json
                """))

    @OptionGroup var options: ConfigurationOptions
    @Option(help: "The app.") var app: String
    @Option(help: "The user who gets a new token: an id, or a JSON object of ids.") var user: String?
    @Option(help: ArgumentHelp("File with an SDK's report, or - for standard input.", valueName: "file|-"))
    var report: String?
    @Option(help: ArgumentHelp("The user that you have authenticated, in addition to --report.", valueName: "json"))
    var vouched: String?
    @Option(help: "The device that sent the report.") var device: String?
    @Flag(help: "Use the bulk lane.") var bulk = false
    @Option(help: "The brokers, instead of the configured ones. Required for an embedded broker without a fixed port.")
    var brokers: String?
    @Flag(help: "Print the event's id, app and topic as JSON.") var json = false

    func validate() throws {
        guard (user == nil) != (report == nil) else { throw ValidationError("give either --user or --report") }
        guard vouched == nil || report != nil else { throw ValidationError("--vouched goes with --report") }
    }

    func run() async throws {
        let preflight = try options.load()
        guard let configuration = preflight.configuration else { throw ExitCode.failure }
        let app = try options.app(app, in: configuration)
        let address = try configuration.brokers(instead: brokers)
        var random = SystemRandomNumberGenerator()
        let id = RandomUUID.make(using: &random)
        let topic = bulk ? configuration.topics.invalidationsBulk : configuration.topics.invalidations
        let record = ProducerRecord(topic: topic, key: try key(app), value: try event(id: id))
        let properties = KafkaProperties(configuration, bootstrapServers: address)
        try await send(record, properties.producer, Logger.remint(configuration.log))
        if json {
            var writer = JSONWriter()
            writer.beginObject()
            writer.member("id", id)
            writer.member("app", app.name)
            writer.member("topic", topic)
            writer.endObject()
            Terminal.print(writer.printable)
        } else {
            Terminal.print("sent \(id) to \(topic)")
        }
    }

    /// Returns the key `app/subject` where the subject is known, so that one user's events stay in one partition.
    ///
    /// - Throws: `ValidationError` for a user that no worker would mint for, by the adapter's own rule.
    private func key(_ app: Configuration.App) throws -> [UInt8]? {
        if let vouched {
            let root = try Self.root(of: vouched, option: "--vouched")
            return try Self.answered("--vouched") { () throws(Rejection) in
                try app.adapter.user(vouchedBy: root).subject
            }.key(app: app.name)
        }
        guard let user else { return nil }
        let root = try JSONDocument(parsing: try userValue(user)).root
        return try Self.answered("--user") { () throws(Rejection) in
            if let refusal = app.adapter.refusalOfMissingMembers(in: nil) { throw refusal }
            return try app.adapter.user(reissuing: root)
        }.key(app: app.name)
    }

    /// Returns the subject that `read` returns; a rejection is reported as a mistake in `option`.
    private static func answered(_ option: String, _ read: () throws(Rejection) -> Subject) throws -> Subject {
        do throws(Rejection) { return try read() } catch {
            throw ValidationError(
                "\(option): \(error.detail); the worker would refuse the event as \(error.code.rawValue), so it was not sent"
            )
        }
    }

    private static func root(of text: String, option: String) throws -> JSONValue {
        do { return try JSONDocument(parsing: Array(text.utf8)).root } catch {
            throw ValidationError("\(option): \(error)")
        }
    }

    private func userValue(_ user: String) throws -> [UInt8] {
        guard user.hasPrefix("{") else {
            var json = JSONWriter()
            json.string(user)
            return json.bytes
        }
        _ = try Self.root(of: user, option: "--user")
        return Array(user.utf8)
    }

    private func event(id: String) throws -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.member("app", app)
        if let user {
            json.name("reissue")
            json.raw(Reissue.request(for: try userValue(user)))
        } else if let report {
            json.name("report")
            json.raw(try readReport(report))
        }
        if let vouched {
            json.name("vouched")
            json.raw(Array(vouched.utf8))
        }
        json.member("id", id)
        json.member("observed_at", CommandContext.current.now().description)
        if let device { json.member("device", device) }
        json.endObject()
        return json.bytes
    }

    private func readReport(_ path: String) throws -> [UInt8] {
        let data =
            path == "-" ? CommandContext.current.restOfInput() : FileManager.default.contents(atPath: path)
        guard let data else { throw ValidationError("the report \(path) cannot be read") }
        do { _ = try JSONDocument(parsing: Array(data)) } catch {
            throw ValidationError("the report \(path): \(error)")
        }
        return Array(data)
    }

    private func send(_ record: ProducerRecord, _ properties: ClientProperties, _ logger: Logger) async throws {
        let producer = try KafkaProducer(properties, logger: logger)
        let errors = await producer.whileOpen(closingWithin: .seconds(5)) { await $0.deliver([record]) }
        if let error = errors.first ?? nil {
            Terminal.error("the event was not sent: \(error)")
            throw ExitCode(75)
        }
    }
}
