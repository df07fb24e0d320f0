import ArgumentParser
import Foundation
import Logging
import ServiceLifecycle
import UnixSignals
import Worker
import WorkerConfiguration

/// `remint signer`: holds the keys and signs for workers of another account.
struct SignerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "signer", abstract: "Holds the key rings and signs for workers, over a Unix socket.",
        discussion: """
            Serves every key ring of the configuration that has a path, until SIGTERM or SIGINT. A worker names the socket
            in place of the path: keys: { NAME: { signer: /run/remint/signer.sock } }. The socket has mode 0660; its folder,
            owner and group say who may have something signed. A change of a key ring is picked up within a second.
            """)

    @OptionGroup var options: ConfigurationOptions
    @Option(help: ArgumentHelp("Where to listen.", valueName: "path")) var socket: String

    func run() async throws {
        let preflight = try options.load()
        guard let configuration = preflight.configuration else { throw ExitCode.failure }
        let logger = Logger.remint(configuration.log)
        let server: SignerServer
        do {
            server = try SignerServer(
                preflight, socket: socket, signingLanes: ProcessInfo.processInfo.activeProcessorCount, logger: logger)
        } catch {
            Terminal.error("remint: \(error)")
            throw ExitCode.failure
        }
        do {
            var group = ServiceGroupConfiguration(
                services: [.init(service: server)], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
            // A worker that does not take its answers must not keep the keys in memory.
            group.maximumGracefulShutdownDuration = configuration.worker.shutdownDeadline
            try await ServiceGroup(configuration: group).run()
        } catch {
            logger.critical("the signer cannot go on", metadata: ["error": "\(error)"])
            throw ExitCode(75)
        }
    }
}
