import AdapterKit
import ArgumentParser
import Foundation
import Logging
import Preflight
import ServiceLifecycle
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
            With a wrong configuration it exits with code 1 before any connection is made. On SIGTERM or SIGINT the worker
            finishes and commits its batch and leaves the groups, within worker.shutdown_deadline. On SIGUSR1 the
            worker finishes what it has consumed and consumes nothing new, but stays in its groups; a second SIGUSR1 ends that. On
            SIGHUP, and when the configuration or a file that it names changes, it applies the new values; it logs the changes that need a
            restart, and keeps the old configuration if the new one is wrong.
            """,
            examples: """
                remint run --config remint.yaml
                remint run --config /etc/remint/remint.yaml
                """))

    @OptionGroup var options: ConfigurationOptions

    func run() async throws {
        Heap.keepSmall()
        try options.requireFiles(for: "a worker")
        let protection = KeyProtection()
        // Before all else, for it would end the process.
        let hangups = await UnixSignalsSequence(trapping: .sighup)
        let preflight = try options.load()
        guard let configuration = preflight.configuration else { throw ExitCode.failure }
        let level = LogLevel(configuration.log)
        let logger = Logger.remint(configuration.log, at: level)
        logger.notice("the worker starts", metadata: Build.details(configuration.workerLimits))
        protection.report(to: logger)
        let worker = try WorkerService(
            preflight, logger: logger, signingLanes: ProcessInfo.processInfo.activeProcessorCount, now: UnixTime.system,
            origin: ConfigurationOrigin(file: options.config, registry: .remint, source: .system), logLevel: level,
            build: Build.info)
        if let tracer = worker.tracer { InstrumentationSystem.bootstrap(tracer) }
        let supervision = Supervisor(ProcessInfo.processInfo.environment).map { supervisor in
            Supervision(
                supervisor, isStarted: { [status = worker.status] in !status.name.isEmpty },
                isAlive: { [status = worker.status] in status.isAlive },
                condition: { [status = worker.status] in status.summary })
        }
        let reports = Task { await supervision?.run() }
        let service = DeadlineService(
            worker: worker, limit: configuration.worker.shutdownDeadline, logger: logger, supervision: supervision)
        let group = ServiceGroup(
            configuration: .init(
                services: [.init(service: service)], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger))
        let quiet = Task {
            for await _ in await UnixSignalsSequence(trapping: .sigusr1) { worker.status.toggleQuiet() }
        }
        let reload = Task {
            for await _ in hangups {
                let finished = supervision?.reloading()
                worker.reload { finished?() }
            }
        }
        defer {
            reports.cancel()
            quiet.cancel()
            reload.cancel()
        }
        do {
            try await group.run()
        } catch {
            logger.critical("the worker cannot go on", error: error)
            throw ExitCode(75)
        }
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
            DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(Int(limit.components.seconds))) {
                logger.error("the worker did not stop within worker.shutdown_deadline; ending the process")
                exit(75)
            }
        }
    }
}
