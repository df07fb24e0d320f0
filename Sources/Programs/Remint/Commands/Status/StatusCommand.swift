import AdapterKit
import ArgumentParser
import CommandKit
import Foundation
import Kafka
import Operations
import Worker
import WorkerConfiguration
import YAMLReading

/// `remint status`: the whole fleet at a glance.
struct StatusCommand: AsyncParsableCommand, ConfigurationCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Shows the whole fleet: workers, lanes and their lag, pauses, keys, campaigns.",
        discussion: .help(
            """
            The command asks the brokers and reads the configured key rings. It asks no worker, joins no group and
            writes nothing. The exit code is 75 if no broker answers.
            """,
            examples: """
                remint status --config remint.yaml
                remint status --config remint.yaml --watch --interval 2s
                """))

    @OptionGroup var fleet: FleetOptions
    var options: ConfigurationOptions { fleet.options }
    var brokers: String? { fleet.brokers }
    @Flag(help: "Print the status repeatedly, until you stop the command.") var watch = false
    @Option(help: ArgumentHelp("With --watch: interval between two outputs.", valueName: "1s")) var interval = "1s"
    @Flag(help: "Print the status as JSON, one line each time.") var json = false

    func validate() throws {
        guard DurationText.parse(interval) != nil else {
            throw ValidationError("--interval is a duration such as 500ms, 2s or 1m")
        }
    }

    func run() async throws {
        let configuration = try fleet.options.loadConfiguration()
        let brokers = try configuration.brokers(instead: fleet.brokers)
        let reader = try FleetReader(
            configuration, brokers: brokers, logger: .quiet(configuration.log),
            commitTime: CommitMetadata.time, now: CommandContext.current.now)
        guard watch else {
            let status: FleetStatus
            do throws(KafkaError) { status = try await reader.read() } catch {
                await reader.close()
                throw error
            }
            await reader.close()
            return show(status, brokers)
        }
        let pause = DurationText.parse(interval) ?? .seconds(1)
        // Until somebody interrupts it.
        while !Task.isCancelled {
            let start = ContinuousClock.now
            do throws(KafkaError) { show(try await reader.read(), brokers) } catch {
                Terminal.error("remint: \(error)")
            }
            try await Task.sleep(until: start + pause, clock: .continuous)
        }
    }

    private func show(_ status: FleetStatus, _ brokers: String) {
        if json { return Terminal.print(String(decoding: status.json(), as: UTF8.self)) }
        let isTerminal = CommandContext.current.terminals.contains(.output)
        let lines = FleetTable(status, brokers: brokers).lines.map { $0.text(inTerminal: isTerminal) }
        // A terminal is written over as a whole; elsewhere one status follows the other.
        let start = watch && isTerminal ? "\u{1B}[H\u{1B}[2J" : ""
        Terminal.print(start + lines.joined(separator: "\n") + (watch && !isTerminal ? "\n" : ""))
    }
}
