import AdapterKit
import ArgumentParser
import CommandKit
import Formats
import Foundation
import Kafka
import Keyring
import Logging
import Operations
import Pipeline
import Preflight
import WorkerConfiguration

/// `remint dead-letters show`.
struct DeadLettersShow: AsyncParsableCommand, ConfigurationCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Shows one dead letter: its reason, history, headers and value, without secrets.",
        discussion: .help(
            """
            The command replaces each token, signature and other secret by its size, in the value and in the headers of
            producers. It shows ids of users. If retention removed a parked letter, the command shows the parked copy.
            The exit code is 1 if there is no such letter.
            """,
            examples: """
                remint dead-letters show 0/41 --config remint.yaml
                remint dead-letters show 0/41 --config remint.yaml --json
                """))

    @Argument(help: ArgumentHelp("Position of the letter, from the output of list.", valueName: "partition/offset"))
    var letter: String
    @OptionGroup var options: ConfigurationOptions
    @Option(help: "The brokers, instead of the configured ones. Required for an embedded broker without a fixed port.")
    var brokers: String?
    @Flag(help: "Print the letter as JSON.") var json = false

    func validate() throws { _ = try place() }

    private func place() throws -> LetterPlace { try DeadLetterOptions.place(letter, "the letter") }

    func run() async throws {
        let place = try place()
        guard let configuration = try options.load().configuration else { throw ExitCode.failure }
        let brokers = try configuration.brokers(instead: brokers)
        let logger = Logger.quiet(configuration.log)
        let states = try await LetterStates.read(configuration, brokers: brokers, logger: logger) ?? LetterStates()
        let found = try await find(place, configuration, brokers: brokers, logger: logger)
        guard let input = found.map(InputRecord.init(deadLetter:)) else {
            Terminal.error(
                "remint: no letter is at \(place.text) of \(configuration.topics.deadLetters): a transaction's mark, or retention removed it. Find the letters: \(RemintCommand("dead-letters list"))"
            )
            throw ExitCode.failure
        }
        var entry = DeadLetterEntry(input, decoder: configuration.deadLetterDecoder, at: CommandContext.current.now())
        let parked = ParkedLetter(input)
        if let parked { entry.place = parked.name.place }
        let state = (parked?.name ?? LetterName(input)).flatMap { states[$0] }
        let shown = RedactedLetter(input)
        json ? printJSON(entry, state, shown) : printText(entry, state, shown)
    }

    /// Returns the record of the letter, or of its copy among the parked ones.
    private func find(
        _ place: LetterPlace, _ configuration: Configuration, brokers: String, logger: Logger
    ) async throws -> ConsumedRecord? {
        let topics = configuration.topics
        let record = try await TopicReader.record(
            at: place.offset, of: place.partition, in: topics.deadLetters, configuration, brokers: brokers,
            logger: logger)
        if let record { return record }
        do {
            let reader = try await TopicReader(topics.parkedLetters, configuration, brokers: brokers, logger: logger)
            var copy: ConsumedRecord?
            try await reader.readAll { record, _, _ in
                if ParkedLetter(InputRecord(deadLetter: record))?.name.place == place { copy = record }
            }
            return copy
        } catch is MissingTopic { return nil }
    }

    private func printText(_ entry: DeadLetterEntry, _ state: LetterStates.State?, _ letter: RedactedLetter) {
        let shown = entry.shown
        let status = state.map { $0 == .parked ? "parked" : "redriven or unparked" } ?? "waiting"
        let facts: [(String, String)] = [
            ("letter", "\(entry.place.text) (\(status))"), ("failed at", shown.failedAt), ("app", shown.app),
            ("event", entry.eventID?.printable() ?? "-"), ("code", shown.code),
            ("meaning", entry.code?.summary ?? "-"), ("stage", entry.stage?.rawValue ?? "-"),
            ("detail", entry.detail.printable(limit: 500)), ("origin", shown.origin),
            ("attempts", String(entry.attempts)), ("redrives", String(entry.redrives)),
        ]
        for (name, text) in facts { Terminal.print(Self.padded(name) + text) }
        if let fault = entry.fault { Terminal.print(Self.padded("fault") + "no worker's dead letter: \(fault)") }
        for (place, hop) in entry.hops.enumerated() {
            Terminal.print(Self.padded(place == 0 ? "history" : "") + hop.printable())
        }
        Terminal.print("headers")
        for header in letter.headers {
            Terminal.print("  \(header.name.printable(limit: 80)): \(header.value.printable(limit: 500))")
        }
        if let value = letter.value {
            Terminal.print("value")
            Terminal.print(Self.indented(value))
        } else if entry.isReference {
            Terminal.print("value  not here: too large for the topic; it is at the origin")
        } else {
            Terminal.print("value  \(letter.valueBytes.map { "\($0.of("byte")), no JSON" } ?? "none")")
        }
    }

    private static func padded(_ name: String) -> String { name + String(repeating: " ", count: 10 - name.count) }

    /// Returns `json` over several lines, safe for a terminal.
    private static func indented(_ json: [UInt8]) -> String {
        let value = try? JSONSerialization.jsonObject(with: Data(json), options: .fragmentsAllowed)
        let data = value.flatMap {
            try? JSONSerialization.data(
                withJSONObject: $0, options: [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes, .fragmentsAllowed])
        }
        return String(decoding: data ?? Data(json), as: UTF8.self).split(separator: "\n")
            .map { "  \(String($0).printable(limit: 2000))" }.joined(separator: "\n")
    }

    private func printJSON(_ entry: DeadLetterEntry, _ state: LetterStates.State?, _ letter: RedactedLetter) {
        var json = JSONWriter()
        json.beginObject()
        entry.writeNames(to: &json)
        json.member("state", state.map { $0 == .parked ? "parked" : "done" } ?? "waiting")
        json.memberIfAny("stage", entry.stage?.rawValue)
        json.memberIfAny("detail", entry.detail)
        json.memberIfAny("origin", entry.origin?.text)
        json.member("attempts", Int64(entry.attempts))
        json.member("redrives", Int64(entry.redrives))
        json.name("history")
        json.beginArray()
        for hop in entry.hops { json.string(hop) }
        json.endArray()
        json.name("headers")
        json.beginArray()
        for header in letter.headers {
            json.beginObject()
            json.member("name", header.name)
            json.member("value", header.value)
            json.endObject()
        }
        json.endArray()
        if let bytes = letter.valueBytes { json.member("value_bytes", Int64(bytes)) }
        if let value = letter.value {
            json.name("value")
            json.raw(value)
        }
        json.endObject()
        Terminal.print(json.printable)
    }
}

extension DeadLetterEntry {
    /// The attempts in the history, the oldest first.
    fileprivate var hops: [String] {
        history.split(separator: ";").map { String($0.drop { $0 == " " }) }
    }
}
