import AdapterKit
import ArgumentParser
import Foundation
import Logging
import Operations
import Preflight
import ServiceLifecycle
import Signing
import UnixSignals
import Worker
import WorkerConfiguration

/// `remint signer`: holds the keys and signs for workers of another account.
struct SignerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "signer", abstract: "Holds the key rings and signs for workers, over a Unix socket.",
        discussion: .help(
            """
            Serves every key ring of the configuration that has a path, until SIGTERM or SIGINT. A worker names the socket
            in place of the path: keys: { NAME: { signer: /run/remint/signer.sock } }. The socket has mode 0660; its folder,
            owner and group decide who can connect, and --allow-uid whose tokens are signed, which the kernel vouches for. What is
            signed, each ring's policy decides (keys.NAME.policy); a log line a minute counts the signatures of each account. A change of a key
            ring is used within a second.
            """,
            examples: """
                remint signer --config signer.yaml --socket /run/remint/signer.sock
                remint signer --config signer.yaml --socket signer.sock --allow-uid 999
                """))

    @OptionGroup var options: ConfigurationOptions
    @Option(help: ArgumentHelp("Where to listen.", valueName: "path")) var socket: String
    @Option(
        name: .customLong("allow-uid"),
        help: ArgumentHelp(
            "A user whose workers may ask, by its id; may be given several times. Default: the signer's own user and root.",
            valueName: "uid"))
    var users: [UInt32] = []

    func run() async throws {
        try options.requireFiles(for: "a signer")
        let protection = KeyProtection()
        let preflight = try options.load()
        guard let configuration = preflight.configuration else { throw ExitCode.failure }
        let logger = Logger.remint(configuration.log)
        logger.notice("the signer starts", metadata: Build.details(configuration.signerLimits))
        protection.report(to: logger)
        let server: SignerServer
        do {
            server = try SignerServer(
                preflight.servedRings, socket: socket,
                allowing: users.isEmpty ? nil : Set(users),
                signingLanes: ProcessInfo.processInfo.activeProcessorCount, logger: logger, now: UnixTime.system)
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
            logger.critical("the signer cannot go on", error: error)
            throw ExitCode(75)
        }
    }
}
