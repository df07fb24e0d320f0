import AdapterKit
import ArgumentParser
import Logging
import Pickup
import ServiceLifecycle
import UnixSignals
import Worker
import WorkerConfiguration

/// `remint pickup`: the gateway that devices call.
struct PickupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pickup", abstract: "Serves devices: one call from a rejected token to its replacement.",
        discussion: """
            Runs until SIGTERM or SIGINT, as many beside each other as one likes: it keeps nothing that is not on the token topic.
            Section pickup of the configuration says where it listens and whose sessions count.
            """)

    @OptionGroup var options: ConfigurationOptions
    @Option(help: "The brokers, instead of the configured ones; needed for an embedded broker.") var brokers: String?

    func run() async throws {
        Heap.keepSmall()
        let configuration = try options.loadConfiguration()
        let logger = Logger.remint(configuration.log)
        let service: PickupService
        do {
            service = try PickupService(
                configuration, brokers: try configuration.brokers(instead: brokers), logger: logger,
                now: UnixTime.system)
        } catch {
            Terminal.error("remint: \(error)")
            throw ExitCode.failure
        }
        do {
            var group = ServiceGroupConfiguration(
                services: [.init(service: service)], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
            group.maximumGracefulShutdownDuration = configuration.worker.shutdownDeadline
            try await ServiceGroup(configuration: group).run()
        } catch {
            logger.critical("the gateway cannot go on", metadata: ["error": "\(error)"])
            throw ExitCode(75)
        }
    }
}
