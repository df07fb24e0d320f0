import Access
import AdapterKit
import ArgumentParser
import Foundation
import JOSE
import Logging
import Pickup
import ServiceLifecycle
import Telemetry
import Tracing
import UnixSignals
import Vendors
import Wiring
import Worker
import WorkerConfiguration

/// `remint pickup`: the gateway that devices call.
struct PickupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pickup",
        abstract: "Runs the HTTP gateway: a device sends a rejected token and gets the replacement in one call.",
        discussion: .help(
            """
            The gateway runs until SIGTERM or SIGINT. After the signal it still serves for the time of pickup.drain. You
            can run any number of gateways, because a gateway keeps only data that is also on the token topic.

            The section pickup of the configuration sets the address and the accepted sessions. On SIGHUP, or when the
            configuration or a file that it names changes, the gateway applies the new values. Streams stay open. The
            gateway logs the changes that need a restart.
            """,
            examples: """
                remint pickup --config pickup.yaml
                remint pickup --config pickup.yaml --brokers 127.0.0.1:9092
                """))

    @OptionGroup var options: ConfigurationOptions
    @Option(help: "The brokers, instead of the configured ones. Required for an embedded broker without a fixed port.")
    var brokers: String?

    func run() async throws {
        Heap.keepSmall()
        // Before all else, for it would end the process.
        let hangups = await UnixSignalsSequence(trapping: .sighup)
        let (configuration, files) = try options.loadNoting()
        let level = LogLevel(configuration.log)
        let logger = Logger.remint(configuration.log, at: level)
        if let pickup = configuration.pickup {
            logger.notice("gateway.started", "the gateway starts", metadata: Build.details(pickup.limits))
        }
        let supervision = Supervisor(ProcessInfo.processInfo.environment).map { Supervision($0) }
        let service: PickupService
        do {
            service = try PickupService(
                configuration, brokers: try configuration.brokers(instead: brokers), logger: logger,
                now: UnixTime.system,
                origin: (
                    ConfigurationOrigin(file: options.config, registry: .remint, source: .system), files: files
                ), logLevel: level, build: Build.info, isReady: { _ in supervision?.started() })
        } catch {
            Terminal.error("remint: \(error)")
            throw ExitCode.failure
        }
        if let tracer = service.tracer { InstrumentationSystem.bootstrap(tracer) }
        let reports = Task { [service] in await supervision?.run(isAlive: service.isAlive) }
        let reload = Task { [service] in
            for await _ in hangups {
                let finished = supervision?.reloading()
                service.reload { finished?() }
            }
        }
        defer {
            reports.cancel()
            reload.cancel()
        }
        do {
            var group = ServiceGroupConfiguration(
                services: [.init(service: SupervisedGateway(gateway: service, supervision: supervision))],
                gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
            group.maximumGracefulShutdownDuration =
                configuration.worker.shutdownDeadline + (configuration.pickup?.drain ?? .zero)
            try await ServiceGroup(configuration: group).run()
        } catch {
            logger.critical("gateway.failed", "the gateway cannot go on", error: error)
            throw ExitCode(75)
        }
    }
}

/// The gateway, and the report to the service manager that it is stopping.
private struct SupervisedGateway: Service, CustomStringConvertible, CustomReflectable {
    let gateway: PickupService
    let supervision: Supervision?

    var description: String { gateway.description }
    var customMirror: Mirror { Mirror(self, children: []) }

    func run() async throws {
        try await withGracefulShutdownHandler {
            try await gateway.run()
        } onGracefulShutdown: { [supervision] in
            supervision?.stopping()
        }
    }
}

/// `remint pickup-key`: an API key for a trusted backend.
struct PickupKeyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pickup-key",
        abstract: "Makes an API key for the gateway, and the key's hash for the gateway's configuration.",
        discussion: .help(
            """
            The command prints the key once, on standard output. It prints the line for pickup.api_keys on standard
            error.
            """,
            examples: """
                remint pickup-key orders
                remint pickup-key orders > orders.key
                """))

    @Argument(help: "Name of the backend, for logs and metrics.") var name: String

    func run() throws {
        let key = try APIKey.generate(random: SecretBytes.random(count:))
        Terminal.error("api_keys: { \(name): { hash: \(key.hash) } }")
        Terminal.print(key.text.withBytes { String(decoding: $0, as: UTF8.self) })
    }
}
