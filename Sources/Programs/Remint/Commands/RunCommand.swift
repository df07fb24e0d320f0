import AdapterKit
import ArgumentParser
import Foundation
import Logging
import Pickup
import Preflight
import ServiceLifecycle
import Synchronization
import Telemetry
import Tracing
import UnixSignals
import Vendors
import Wiring
import Worker
import WorkerConfiguration

/// `remint run`: the worker.
struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Runs the worker until SIGTERM or SIGINT.",
        discussion: .help(
            """
            If the configuration is wrong, the worker exits with code 1 before it opens a connection. If only a file that the
            configuration names is wrong, such as a key ring or a certificate, the worker exits with code 75.

            On SIGTERM or SIGINT, the worker finishes and commits its batch and leaves its groups, within
            worker.shutdown_deadline.

            On SIGUSR1, the worker finishes the events that it has consumed, and consumes nothing new. It stays in its
            groups. After a second SIGUSR1, the worker consumes events again.

            On SIGHUP, or when the configuration or a file that it names changes, the worker applies the new values. It
            logs the changes that need a restart. If the new configuration is wrong, the worker keeps the old
            configuration.

            With --with-pickup, the process is also a gateway. Use this only for a small fleet or first steps, because
            the keys are then in the process that devices call.
            """,
            examples: """
                remint run --config remint.yaml
                remint run --config /etc/remint/remint.yaml --with-pickup
                """))

    @OptionGroup var options: ConfigurationOptions
    @Flag(help: "Run the gateway of the section pickup in the same process.") var withPickup = false

    func run() async throws {
        Heap.keepSmall()
        try options.requireFiles(for: "a worker")
        let protection = KeyProtection()
        // Before all else, for it would end the process.
        let hangups = await UnixSignalsSequence(trapping: .sighup)
        let preflight = try options.load(isService: true)
        guard let configuration = preflight.configuration else { throw ExitCode.failure }
        let pickup = withPickup ? try gatewaySection(of: configuration) : nil
        let level = LogLevel(configuration.log)
        var logger = Logger.remint(configuration.log, at: level)
        var gatewayLogger = logger
        if withPickup {
            logger[metadataKey: LogKey.service] = "worker"
            gatewayLogger[metadataKey: LogKey.service] = "gateway"
        }
        logger.notice("worker.started", "the worker starts", metadata: Build.details(configuration.workerLimits))
        protection.report(to: logger)
        if let pickup {
            gatewayLogger.notice("gateway.started", "the gateway starts", metadata: Build.details(pickup.limits))
        }
        let gateway = withPickup ? makeGateway(configuration, preflight, gatewayLogger, level) : nil
        let worker = try WorkerService(
            preflight, logger: logger, signingLanes: ProcessInfo.processInfo.activeProcessorCount, now: UnixTime.system,
            origin: origin, logLevel: level, build: Build.info, isReady: { gateway?.start(brokers: $0) })
        if let tracer = worker.tracer { InstrumentationSystem.bootstrap(tracer) }
        let supervision = supervision(of: worker.status)
        let reports = Task {
            await supervision?.run(isAlive: { worker.status.isAlive && gateway?.isAlive() ?? true })
        }
        let quiet = Task {
            for await _ in await UnixSignalsSequence(trapping: .sigusr1) { worker.status.toggleQuiet() }
        }
        let reload = Task {
            for await _ in hangups {
                let finished = supervision?.reloading()
                worker.reload { finished?() }
                gateway?.reload()
            }
        }
        defer {
            reports.cancel()
            quiet.cancel()
            reload.cancel()
        }
        do {
            let service = DeadlineService(
                worker: worker, limit: configuration.worker.shutdownDeadline, logger: logger, supervision: supervision)
            try await group(service, gateway, configuration).run()
        } catch {
            logger.critical("worker.failed", "the worker cannot go on", error: error)
            throw ExitCode(75)
        }
    }

    private var origin: ConfigurationOrigin {
        ConfigurationOrigin(file: options.config, registry: .remint, source: .system)
    }

    /// Returns the reports of the process to the service manager that started it; nil if none did.
    private func supervision(of status: WorkerStatus) -> Supervision? {
        Supervisor(ProcessInfo.processInfo.environment).map { supervisor in
            Supervision(
                supervisor, isStarted: { !status.name.isEmpty }, condition: { status.summary })
        }
    }

    /// Returns the services of the process. The gateway stops first, so that the worker answers its waiting callers.
    private func group(
        _ service: DeadlineService, _ gateway: GatewayBesideWorker?, _ configuration: Configuration
    ) -> ServiceGroup {
        var services = [ServiceGroupConfiguration.ServiceConfiguration(service: service)]
        if let gateway { services.append(ServiceGroupConfiguration.ServiceConfiguration(service: gateway)) }
        var group = ServiceGroupConfiguration(
            services: services, gracefulShutdownSignals: [.sigterm, .sigint], logger: service.logger)
        if gateway != nil {
            let drain = configuration.pickup?.drain ?? .zero
            group.maximumGracefulShutdownDuration = drain + service.limit + service.limit
        }
        return ServiceGroup(configuration: group)
    }

    // MARK: The gateway

    /// Returns the section of the gateway, whose files can be used.
    ///
    /// - Throws: `ExitCode` 1 for a configuration without a gateway; 75, as `remint pickup`, where its files cannot be used.
    private func gatewaySection(of configuration: Configuration) throws -> Configuration.Pickup {
        guard let pickup = configuration.pickup else {
            Terminal.error(
                "remint: --with-pickup needs the section pickup in \(options.config); remint config sample shows one")
            throw ExitCode.failure
        }
        let problems = PickupService.diagnostics(for: configuration)
        for problem in problems { Terminal.error("\(problem)") }
        guard problems.isEmpty else { throw ExitCode(75) }
        return pickup
    }

    private func makeGateway(
        _ configuration: Configuration, _ preflight: Preflight, _ logger: Logger, _ level: LogLevel
    ) -> GatewayBesideWorker {
        let (file, files) = (origin, preflight.files)
        let gateway = GatewayBesideWorker { brokers in
            try PickupService(
                configuration, brokers: brokers, logger: logger, now: UnixTime.system, origin: (file, files: files),
                logLevel: level, build: Build.info)
        }
        // The address of an embedded broker is known once the worker consumes.
        if !configuration.kafka.isEmbedded { gateway.start(brokers: configuration.kafka.bootstrapServers) }
        return gateway
    }
}

/// The worker, and the end of the process when a stop takes longer than it may: the library's own goodbye can wait for a
/// broker for ever. Nothing is lost then; the events in hand were not committed.
private struct DeadlineService: Service, CustomStringConvertible, CustomReflectable {
    let worker: WorkerService
    let limit: Duration
    let logger: Logger
    let supervision: Supervision?

    var description: String { worker.description }
    var customMirror: Mirror { Mirror(self, children: []) }

    func run() async throws {
        try await withGracefulShutdownHandler {
            try await worker.run()
        } onGracefulShutdown: { [limit, logger, supervision] in
            supervision?.stopping()
            let end = DispatchTime.now() + .seconds(Int(limit.components.seconds))
            // On a thread of its own, and without a log line: whoever reads the log may be what is stuck.
            DispatchQueue(label: "remint.last-resort").asyncAfter(deadline: end + .seconds(1)) { _exit(75) }
            DispatchQueue.global().asyncAfter(deadline: end) {
                logger.error(
                    "worker.stop-overdue",
                    "the worker did not stop within worker.shutdown_deadline; ending the process")
                exit(75)
            }
        }
    }
}

/// The gateway in a worker's process, for a small fleet. It starts once the brokers' address is known.
///
/// Only this program puts the two together: the module of the gateway cannot reach the worker's keys.
final class GatewayBesideWorker: Service, CustomStringConvertible, CustomReflectable {
    private let make: @Sendable (String) throws -> PickupService
    private let addresses: AsyncStream<String>
    private let address: AsyncStream<String>.Continuation
    private let gateway = Mutex<PickupService?>(nil)

    /// A gateway that waits for its brokers.
    ///
    /// - Parameter make: Returns the gateway of brokers at an address.
    init(_ make: @escaping @Sendable (String) throws -> PickupService) {
        self.make = make
        (addresses, address) = AsyncStream.makeStream(of: String.self, bufferingPolicy: .bufferingOldest(1))
    }

    var description: String { "the gateway beside the worker" }
    var customMirror: Mirror { Mirror(self, children: []) }

    /// Starts the gateway with the brokers at `brokers`. Later calls have no effect.
    func start(brokers: String) { address.yield(brokers) }

    /// Requests a reload of the configuration. A gateway that waits for its brokers has the configuration of the process's
    /// start, and follows the file once it runs.
    func reload() { gateway.withLock { $0 }?.reload() }

    /// Returns whether the gateway's threads still work. A gateway that waits for its brokers has none.
    func isAlive() -> Bool { gateway.withLock { $0 }?.isAlive() ?? true }

    /// Serves devices until the process is asked to stop.
    ///
    /// - Throws: the error that keeps the gateway from starting or continuing.
    func run() async throws {
        let brokers = await withGracefulShutdownHandler {
            await addresses.first { _ in true }
        } onGracefulShutdown: { [address] in
            address.finish()
        }
        guard let brokers else { return }
        let service = try make(brokers)
        gateway.withLock { $0 = service }
        try await service.run()
    }
}
