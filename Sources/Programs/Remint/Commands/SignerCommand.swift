import AdapterKit
import ArgumentParser
import Foundation
import Logging
import Operations
import Preflight
import ServiceLifecycle
import Signing
import Telemetry
import UnixSignals
import Worker
import WorkerConfiguration

/// `remint signer`: holds the keys and signs for workers of another account.
struct SignerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "signer", abstract: "Holds the key rings and signs for workers, over a Unix socket.",
        discussion: .help(
            """
            The signer serves every key ring of the configuration that has a path, until SIGTERM or SIGINT. In the
            worker's configuration, the socket replaces the path: keys: { NAME: { signer: /run/remint/signer.sock } }.

            The socket has mode 0660. Its folder, owner and group decide which accounts can connect. The signer signs
            only for the accounts of --allow-uid; the kernel vouches for the account of a caller. The policy of each
            ring (keys.NAME.policy) decides which tokens the signer signs. Once a minute, the signer logs the number of
            signatures for each account. It uses a changed key ring within a second.
            """,
            examples: """
                remint signer --config signer.yaml --socket /run/remint/signer.sock
                remint signer --config signer.yaml --socket signer.sock --allow-uid 999
                """))

    @OptionGroup var options: ConfigurationOptions
    @Option(help: ArgumentHelp("Path of the Unix socket.", valueName: "path")) var socket: String
    @Option(
        name: .customLong("allow-uid"),
        help: ArgumentHelp(
            """
            Id of an account whose workers the signer serves. Repeat the option for several accounts. Default: the \
            signer's own account and root.
            """, valueName: "uid"))
    var users: [UInt32] = []

    func run() async throws {
        try options.requireFiles(for: "a signer")
        let protection = KeyProtection()
        let preflight = try options.load(isService: true)
        guard let configuration = preflight.configuration else { throw ExitCode.failure }
        let logger = Logger.remint(configuration.log)
        logger.notice("signer.started", "the signer starts", metadata: Build.details(configuration.signerLimits))
        protection.report(to: logger)
        for ring in preflight.servedRings where ring.policy.templates.isEmpty {
            logger.warning(
                "signer.ring-without-app", "no app uses a key ring, so the signer signs nothing with it",
                metadata: [LogKey.keyRing: "\(ring.folder.name)"])
        }
        let server: SignerServer
        do {
            server = try SignerServer(
                preflight.servedRings, revisions: preflight.revisions, socket: socket,
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
            logger.critical("signer.failed", "the signer cannot go on", error: error)
            throw ExitCode(75)
        }
    }
}
