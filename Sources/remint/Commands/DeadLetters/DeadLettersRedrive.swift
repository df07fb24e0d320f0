import AdapterKit
import ArgumentParser
import Kafka
import Logging
import Operations
import Pipeline
import Worker
import WorkerConfiguration

/// `remint dead-letters redrive`.
struct DeadLettersRedrive: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "redrive", abstract: "Sends dead letters back to the topic their event came from.",
        discussion: """
            Reads from where the last redrive with the same filter stopped to where the topic ends now; each filter has a
            consumer group of its own for that, so that an interrupted redrive goes on where it was. Letters are published
            before the group's offsets are committed. Exit code 75 where not everything could be published.
            """)

    @OptionGroup var letters: DeadLetterOptions
    @Flag(help: "Say what would be sent, and send nothing.") var dryRun = false
    @Option(help: "The most letters a second; 0 for no limit.") var rate = 500
    @Option(help: "Letters that were redriven so often stay.") var maxRedrives = 3
    @Option(help: "The consumer group that keeps the progress. Default: one per filter.") var group: String?
    @Flag(help: "Print the result as JSON.") var json = false

    func validate() throws {
        guard rate >= 0 else { throw ValidationError("--rate is 0 or more") }
        guard maxRedrives > 0 else { throw ValidationError("--max-redrives is at least 1") }
    }

    func run() async throws {
        let filter = try letters.filter()
        let (configuration, brokers, logger) = try letters.load()
        let group = group ?? Self.group(for: filter, of: configuration)
        let run = RedriveRun(
            configuration: configuration, filter: filter, maximumRedrives: maxRedrives, isDryRun: dryRun, rate: rate,
            now: UnixTime.system(), display: ProgressLine())
        let result = try await run.run(brokers: brokers, group: group, logger: logger)
        report(result, group)
        if result.failure != nil { throw ExitCode(75) }
    }

    /// The same filter gives the same group.
    private static func group(for filter: DeadLetterFilter, of configuration: Configuration) -> String {
        let digest = SHA256.hash(Array(filter.description.utf8)).prefix(4)
        let name = digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        return "\(configuration.kafka.group)-redrive-\(name)"
    }

    private func report(_ result: RedriveRun.Result, _ group: String) {
        if let failure = result.failure { Terminal.error("remint: not everything was published: \(failure)") }
        if json {
            var writer = JSONWriter()
            writer.beginObject()
            writer.name("dry_run")
            writer.bool(dryRun)
            writer.member("group", group)
            writer.member("redriven", Int64(result.redriven))
            writer.member("other", Int64(result.unmatched))
            for reason in Redrive.Refusal.allCases {
                writer.member(
                    reason.rawValue.replacing(" ", with: "_"), Int64(result.refused[reason] ?? 0))
            }
            writer.endObject()
            Terminal.print(String(decoding: writer.bytes, as: UTF8.self))
            return
        }
        let refused = result.refused.sorted { $0.key.rawValue < $1.key.rawValue }.map {
            "\($0.value) \($0.key.rawValue)"
        }
        let left = (refused + ["\(result.unmatched) not meant"]).joined(separator: ", ")
        let count = result.redriven == 1 ? "1 dead letter" : "\(result.redriven) dead letters"
        Terminal.print("\(count) \(dryRun ? "would be " : "")sent back; left: \(left); group \(group)")
    }
}
