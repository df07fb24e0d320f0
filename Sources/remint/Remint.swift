import ArgumentParser
import Foundation
import Kafka

/// The command line.
@main
struct Remint: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remint",
        abstract: "Mints replacement tokens for users whose SDK reported a failed authentication.",
        version: "0.1.0",
        subcommands: [
            DemoCommand.self, RunCommand.self, PickupCommand.self, PickupKeyCommand.self, SignerCommand.self,
            CheckCommand.self,
            ConfigCommand.self,
            CodesCommand.self,
            MetricsCommand.self, EmitCommand.self,
            InspectCommand.self, AdapterCommand.self,
            AppsCommand.self, DeadLettersCommand.self, KeysCommand.self, LedgerCommand.self, ReissueCommand.self,
            RotateCommand.self, TopicsCommand.self, BenchCommand.self,
        ])

    /// Exit codes: 0 done, 1 the thing asked for is wrong, 2 usage, 75 try again later.
    static func main() async {
        do {
            var command = try parseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch let error as KafkaError {
            Terminal.error("remint: \(error)")
            Foundation.exit(75)
        } catch {
            guard exitCode(for: error) == .validationFailure else { exit(withError: error) }
            Terminal.error(fullMessage(for: error))
            Foundation.exit(2)
        }
    }
}
