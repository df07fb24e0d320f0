public import AdapterKit
import BrokerTokens
import Formats
import JOSE
import Kafka
import Keyring
public import Logging
import NIOCore
import OTLP
public import Pipeline
public import Preflight
public import ServiceLifecycle
import Serving
import Signing
import Spans
import Synchronization
public import Telemetry
import VendorLookup
public import Wiring
import WorkerConfiguration

/// The worker: consumes events, brings each to an outcome, publishes and commits. It also runs the admin server and
/// watches its key rings.
///
/// It runs until a graceful shutdown, commits the settled events and leaves its groups. A crash at any point loses
/// nothing and, with `delivery: exactly_once`, duplicates nothing.
public struct WorkerService: Service, CustomStringConvertible, CustomReflectable {
    /// The worker's state, and the requests to it, for the admin server and signals.
    public let status = WorkerStatus()

    let configuration: Configuration
    private let rings: FirstRings
    private let revisions: [String: FileRevision?]
    private let files: [String: FileRevision?]
    /// The source for configuration reloads; nil for none.
    private let origin: ConfigurationOrigin?
    private let logLevel: LogLevel?
    private let requests = ReloadRequests()
    /// The token that the admin server requires; nil for none.
    let adminToken: SecretBytes?
    /// The collector of spans, and their queue; nil for no export.
    let telemetry: (collector: Collector, spans: SpanQueue)?
    let logger: Logger
    let signingLanes: Int
    let now: @Sendable () -> UnixTime
    let build: BuildInfo
    private let observe: (@Sendable ([Settlement]) -> Void)?
    private let isReady: @Sendable (String) -> Void

    /// - Parameters:
    ///   - preflight: A configuration that is ready.
    ///   - signingLanes: The number of signing threads, usually one per core.
    ///   - origin: The source for reloads, which happen when its files change and when `reload` is called. It is nil
    ///     for a worker that keeps its first configuration.
    ///   - logLevel: The level of the process' log, if it may change with the configuration.
    ///   - build: The versions that the status and the metrics show.
    ///   - observe: A function that gets the outcomes of every transaction once they are visible.
    ///   - isReady: A function that gets the brokers' address each time the worker has its first live partitions.
    /// - Throws: `WorkerError` where the configuration is not ready.
    public init(
        _ preflight: Preflight, logger: Logger, signingLanes: Int, now: @escaping @Sendable () -> UnixTime,
        origin: ConfigurationOrigin? = nil, logLevel: LogLevel? = nil, build: BuildInfo = BuildInfo(),
        observe: (@Sendable ([Settlement]) -> Void)? = nil,
        isReady: @escaping @Sendable (String) -> Void = { _ in }
    ) throws(WorkerError) {
        guard let configuration = preflight.configuration, preflight.isReady else {
            throw WorkerError("the configuration has errors; run: remint check")
        }
        self.configuration = configuration
        rings = FirstRings(Array(preflight.rings.values))
        do throws(KeyRingError) {
            adminToken = try configuration.admin?.tokenFile.map { (path) throws(KeyRingError) in
                try KeyFile.read(path).trimmingLineEnd()
            }
        } catch { throw WorkerError("admin.token_file: \(error)") }
        telemetry = try configuration.telemetry.collector.map { (collector) throws(WorkerError) in
            (try Collector(collector), SpanQueue())
        }
        revisions = preflight.revisions
        files = preflight.files
        self.origin = origin
        self.logLevel = logLevel
        self.logger = logger
        self.signingLanes = signingLanes
        self.now = now
        self.build = build
        self.observe = observe
        self.isReady = isReady
    }

    /// Names the group alone, never the configuration: frameworks log the services that they run.
    public var description: String { "the worker of \(configuration.kafka.group)" }
    /// Nothing: a dump or a mirror shows no member.
    public var customMirror: Mirror { Mirror(self, children: []) }

    /// The tracer for libraries of this process, so that their spans go to the worker's collector; nil if the worker
    /// sends none.
    public var tracer: SpanTracer? { telemetry.map { SpanTracer($0.spans) } }

    /// Requests a reload of the configuration.
    ///
    /// - Parameter finished: called once the configuration was read and applied or refused.
    public func reload(then finished: @escaping @Sendable () -> Void = {}) { requests.ask(then: finished) }

    /// Works until the process is asked to stop.
    ///
    /// - Throws: `WorkerError` or `KafkaError` if the worker cannot go on.
    public func run() async throws {
        let metrics = WorkerMetrics(build: build)
        metrics.begin(configuration.apps)
        metrics.follow(status)
        let export = startExport(metrics)
        do { try await run(metrics) } catch {
            await Self.end(export)
            throw error
        }
        // After the last event, so that its trace is exported as well.
        await Self.end(export)
        logger.notice("worker.stopped", "the worker stopped")
    }

    private func run(_ metrics: WorkerMetrics) async throws {
        // Held on to, so that a session's clients find the provider of the session before.
        let tokens = configuration.kafka.tokens
        defer { withExtendedLifetime(tokens) {} }
        if let tokens {
            metrics.follow(tokens.tally, now: now)
            status.degradations.watch(.brokerTokens) { [tally = tokens.tally] in tally.trouble }
        }
        status.degradations.watch(.memory) { ProcessMemory.read()?.shortage }
        let local = makeSigner()
        let signers = signers(metrics)
        let signer = route(local, signers)
        let lookups = try LookupClient(
            VendorLookups.endpoints(configuration), signer: signer, logger: logger, now: now)
        let running = RunningConfiguration(configuration, revisions: revisions)
        let reloader = Reloader(
            running, signer: local, lookups: lookups, status: status, metrics: metrics, logLevel: logLevel,
            logger: logger, now: now)
        let tracing = tracing
        let observer = SessionObserver(
            status: status, metrics: metrics, logger: logger, tracing: tracing,
            topic: { [configuration] in configuration.topic(for: $0) }, observe: observe)
        let unreadable = UnreadableRecords(
            metrics.unreadable, logger: logger,
            skipped: { [status] detail in
                status.degradations.set(.records, "a record was skipped: \(detail)", for: Degradations.memoryOfRecords)
            })
        let context = SessionContext(
            configuration: configuration, signer: signer, lookups: lookups, observer: observer,
            requests: SessionRequests(status), unreadable: unreadable,
            reachability: Reachability(observer), clock: ClockWatch(), clientLogger: logger, now: now, tracing: tracing,
            reloader: reloader)
        try await withThrowingTaskGroup(of: Void.self) { group in
            // The server answers until the last event has finished, so it must not see the graceful shutdown, which
            // ends its own; a task of its own does not inherit it.
            let (listening, isListening) = AsyncStream.makeStream(of: Void.self)
            let admin = try startAdminServer(metrics, running) { isListening.finish() }
            if admin == nil { isListening.finish() }
            defer { admin?.cancel() }
            if let admin {
                group.addTask {
                    try await withTaskCancellationHandler {
                        try await admin.value
                    } onCancel: {
                        admin.cancel()
                    }
                }
            }
            group.addTask { await follow(reloader, signer: local) }
            for signer in signers { group.addTask { await signer.run() } }
            group.addTask { await lookups.run() }
            group.addTask { [reachability = context.reachability] in await reachability.run() }
            group.addTask { [clock = context.clock, now] in await clock.run(now: now, observer.compared) }
            group.addTask { [ends = keyEnds(running, signer, metrics)] in await ends.run() }
            if let topics = TopicSettingsWatch(running, status: status, logger: logger) {
                group.addTask { await topics.run() }
            }
            if let certificates = ClientCertificates(configuration) {
                let watcher = CertificateWatcher(
                    certificates, logger: logger, renew: { [status] in status.renewClients() },
                    ended: { if let end = $0 { metrics.certificateEnd.set(Double(end.seconds)) } })
                group.addTask { await watcher.run() }
            }
            group.addTask {
                // A worker that cannot listen must not join its groups.
                for await _ in listening {}
                try Task.checkCancellation()
                for signer in signers { await signer.waitForKeys(within: Self.keyTimeout) }
                try await work(context)
                throw Finished()
            }
            defer { group.cancelAll() }
            do { while try await group.next() != nil {} } catch is Finished {}
        }
    }

    /// Signs with the rings that this process holds, whose public keys are shown from now on.
    private func makeSigner() -> LocalSigner {
        let rings = rings.take()
        for ring in rings { status.publish(ring) }
        return LocalSigner(rings, lanes: signingLanes)
    }

    /// The work is done, so that the tasks beside it end as well.
    private struct Finished: Error {}

    /// Follows the key rings' folders and the configuration's files, until the task is canceled.
    private func follow(_ reloader: Reloader, signer: LocalSigner) async {
        let running = reloader.running
        let rings = KeyRingWatcher(
            { running.rings }, signer: signer, problems: keyProblems, logger: logger,
            changed: { [status] ring in
                // It may have been taken out while it was read.
                guard running.current.keys.contains(where: { $0.name == ring.name }) else { return }
                status.publish(ring)
            })
        await withDiscardingTaskGroup { group in
            group.addTask { await rings.run() }
            guard let origin else { return }
            let file = ConfigurationWatcher(requests: requests) {
                let preflight = Preflight(
                    file: origin.file, registry: origin.registry, source: origin.source,
                    known: reloader.running.started)
                reloader.offer(preflight)
                return preflight.files
            }
            group.addTask { [files] in await file.run(since: files) }
        }
    }

    private func work(_ context: SessionContext) async throws {
        let broker =
            configuration.kafka.isEmbedded ? try await EmbeddedTopics.start(configuration, logger: logger) : nil
        do {
            try await runSessions(context, broker?.bootstrapServers ?? configuration.kafka.bootstrapServers)
        } catch {
            await broker?.close()
            throw error
        }
        await broker?.close()
    }

    /// Runs session after session: clients that are of no further use are replaced, without a new process.
    private func runSessions(_ context: SessionContext, _ bootstrapServers: String) async throws {
        let name =
            configuration.kafka.instance.map { "\(configuration.kafka.group)-\($0)" }
        let lock = name == nil ? InstanceName(group: configuration.kafka.group) : nil
        let session = Session(
            context: context, bootstrapServers: bootstrapServers, instance: name ?? lock?.text ?? "",
            place: lock?.isStable == false ? nil : name ?? lock?.text, isReady: isReady)
        status.set(name: session.instance)
        status.set(brokers: bootstrapServers)
        var processor = configuration.processor(
            signing: context.signer, worker: session.instance, cores: signingLanes, spans: telemetry?.spans, now: now)
        var committed = CommittedOffsets()
        var lanePauses = LanePauses()
        var blockage: Blockage?
        var backoff = Backoff()
        var isFirst = true
        var twins = TwinSearch()
        let first = ContinuousClock.now
        while true {
            let start = ContinuousClock.now
            let end: SessionEnd
            do {
                end = try await session.run(&processor, &committed, &lanePauses, &blockage)
            } catch let error as KafkaError {
                // Brokers that a worker has reached before are waited for.
                guard !isFirst else { throw error }
                if error.code.isConnection { context.reachability.lost(error) }
                end = .unusable(error)
            }
            isFirst = false
            switch end {
            case .stopped: return
            case .renewed:
                context.observer.renewing()
                if Task.isShuttingDownGracefully { return }
            case .reopened:
                processor.forgetVersions()
                if .now - start > .seconds(60) { backoff.reset() }
                guard await backoff.wait(while: { !Task.isShuttingDownGracefully }) else { return }
            case .fenced(let error):
                context.observer.clientsFailed(error)
                guard try await session.outlive(&twins, ContinuousClock.now - first),
                    await backoff.wait(while: { !Task.isShuttingDownGracefully })
                else { return }
            case .broken(let fault):
                throw WorkerError(
                    "an error in the program: \(fault); no event is lost: restart the worker, and report this line")
            case .unusable(let error):
                context.observer.clientsFailed(error)
                if .now - start > .seconds(60) { backoff.reset() }
                guard await backoff.wait(while: { !Task.isShuttingDownGracefully }) else { return }
            }
        }
    }

    /// Starts the admin server, in a task of its own; nil where the configuration has none.
    ///
    /// - Parameter onListening: called once it listens.
    func startAdminServer(
        _ metrics: WorkerMetrics, _ running: RunningConfiguration, onListening: @escaping @Sendable () -> Void
    ) throws(WorkerError) -> Task<Void, any Error>? {
        guard let address = configuration.admin else { return nil }
        let reporter = StatusReporter(
            configuration, status: status, metrics: metrics, keys: { running.current.keys }, build: build, now: now)
        status.degradations.watch(.events) { [weak reporter] in reporter?.deadLetterExcess }
        var server = AdminServer(
            address: address, status: status, metrics: metrics.registry, reporter: reporter, logger: logger)
        server.fleet = FleetView(
            { running.numbered }, brokers: { [status] in status.brokers }, logger: logger, now: now)
        server.token = adminToken
        server.onListening = onListening
        server.tls = try address.certificate.map { (files) throws(WorkerError) in
            let certificate = try ServerCertificate.load(files, named: "admin.tls")
            metrics.adminCertificateEnd.set(Double(certificate.end.seconds))
            return certificate.configuration
        }
        return Task.detached {
            do { try await server.run() } catch is CancellationError {} catch {
                let problem = (error as? IOError)?.listeningProblem(named: "admin.listen") ?? "\(error)"
                let place = HostAndPort(host: address.host, port: address.port)
                throw WorkerError("the admin server cannot listen at \(place): \(problem)")
            }
        }
    }

    // MARK: Signers

    /// The time that a signer gets before the first event is taken, if it starts together with the worker. Without
    /// keys, events only wait and use up attempts.
    static let keyTimeout = Duration.seconds(5)

    func signers(_ metrics: WorkerMetrics) -> [SignerProcess] {
        configuration.signers.sorted { $0.key < $1.key }.map { socket, wanted in
            SignerProcess(
                socket: socket, wanted: wanted, problems: keyProblems, metrics: metrics.signers, lanes: signingLanes,
                logger: logger)
        }
    }

    var keyProblems: KeyProblems { { [status] in status.setKeys($0, of: $1) } }

    func route(_ local: LocalSigner, _ signers: [SignerProcess]) -> any SigningPort {
        guard !signers.isEmpty else { return local }
        let routes = signers.flatMap { signer in signer.wanted.keys.map { ($0, signer) } }
        return RoutedSigner(local: local, others: Dictionary(routes) { first, _ in first })
    }

    // MARK: Traces

    var tracing: EventTracing? {
        telemetry.map {
            EventTracing(
                to: $0.spans, share: configuration.telemetry.sample,
                maximumEventBytes: configuration.worker.maximumEventBytes, now: now)
        }
    }

    /// Returns the watch of the ends of the keys that `signer` signs with.
    func keyEnds(
        _ running: RunningConfiguration, _ signer: any SigningPort, _ metrics: WorkerMetrics
    ) -> KeyEndWatch {
        KeyEndWatch(
            { running.provided }, signer: signer, status: status, metrics: metrics, logger: logger, now: now)
    }

    /// Starts the export of spans, in a task that does not see the graceful shutdown; nil where there is no
    /// collector.
    func startExport(_ metrics: WorkerMetrics) -> Task<Void, Never>? {
        guard let telemetry else { return nil }
        let exporter = Exporter(
            to: telemetry.collector, queue: telemetry.spans, metrics: metrics.export,
            resource: { [status] in
                let instance = status.name
                let name = EndedSpan.Attribute("service.name", .text("remint"))
                return instance.isEmpty ? [name] : [name, EndedSpan.Attribute("service.instance.id", .text(instance))]
            }, logger: logger, now: now,
            answered: { [status] trouble in
                status.degradations.set(.telemetry, trouble.map { "the collector does not accept traces: \($0)" })
            })
        return Task.detached { await exporter.run() }
    }

    static func end(_ export: Task<Void, Never>?) async {
        export?.cancel()
        await export?.value
    }
}

/// The key rings of the start, until they are taken, so that the worker's owner keeps no key that is gone since.
private final class FirstRings: Sendable {
    private let rings: Mutex<[KeyRing]>

    init(_ rings: [KeyRing]) { self.rings = Mutex(rings) }

    func take() -> [KeyRing] {
        rings.withLock { rings in
            defer { rings = [] }
            return rings
        }
    }
}
