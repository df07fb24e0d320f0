import Access
public import AdapterKit
public import JOSE
import Kafka
public import Logging
import NIOPosix
import OTLP
import Pipeline
public import ServiceLifecycle
public import Serving
import Spans
public import Telemetry
public import Wiring
public import WorkerConfiguration

/// The gateway that devices call. It is stateless: it reads tokens from the token topic, and has workers mint the
/// missing ones.
public struct PickupService: Service, CustomStringConvertible, CustomReflectable {
    private let configuration: Configuration
    private let pickup: Configuration.Pickup
    private let brokers: String
    /// The limit of open files, which bounds the connections.
    private let files: OpenFiles
    private let logger: Logger
    private let now: @Sendable () -> UnixTime
    private let isReady: @Sendable (String) -> Void
    /// The origin of the configuration, for reloads, and its files as they were when it was read; nil where it is never
    /// reloaded.
    private let origin: (ConfigurationOrigin, files: [String: FileRevision?])?
    private let logLevel: LogLevel?
    private let build: BuildInfo
    private let requests = ReloadRequests()
    private let pulse = EventLoopPulse(Array(MultiThreadedEventLoopGroup.singleton.makeIterator()))
    /// The collector of spans, and their queue; nil where nothing is sent.
    private let telemetry: (collector: Collector, spans: SpanQueue)?

    /// - Parameters:
    ///   - brokers: the brokers of the topics.
    ///   - origin: the configuration's origin, read again when its files change and when `reload` is called; nil where
    ///     the configuration never changes.
    ///   - logLevel: the level of the process's log, where it may change with the configuration.
    ///   - build: the versions that the metrics show.
    ///   - files: the limit of open files.
    ///   - isReady: called with the address once the gateway listens.
    /// - Throws: `PickupError` where the configuration has no gateway, telemetry that cannot be used, or more
    ///   connections than files may be open.
    public init(
        _ configuration: Configuration, brokers: String, logger: Logger, now: @escaping @Sendable () -> UnixTime,
        origin: (ConfigurationOrigin, files: [String: FileRevision?])? = nil, logLevel: LogLevel? = nil,
        build: BuildInfo = BuildInfo(), files: OpenFiles = .raised(),
        isReady: @escaping @Sendable (String) -> Void = { _ in }
    ) throws(PickupError) {
        guard let pickup = configuration.pickup else {
            throw PickupError("the configuration has no section pickup; remint config sample shows one")
        }
        do throws(WorkerError) {
            telemetry = try configuration.telemetry.collector.map { (collector) throws(WorkerError) in
                (try Collector(collector), SpanQueue())
            }
        } catch { throw PickupError(error.description) }
        if let problem = ConnectionLimit(pickup, files).problem { throw PickupError(problem) }
        try DeviceApps(configuration, pickup).requireOne()
        _ = try pickup.baseURL(of: pickup)
        self.configuration = configuration
        self.pickup = pickup
        self.files = files
        self.brokers = brokers
        self.logger = logger
        self.now = now
        self.origin = origin
        self.logLevel = logLevel
        self.build = build
        self.isReady = isReady
    }

    /// The tracer for libraries of this process, whose spans go to the gateway's collector; nil where none are sent.
    public var tracer: SpanTracer? { telemetry.map { SpanTracer($0.spans) } }

    /// Requests a reload of the configuration.
    ///
    /// - Parameter finished: called once the configuration was read and applied or refused.
    public func reload(then finished: @escaping @Sendable () -> Void = {}) { requests.ask(then: finished) }

    /// Returns whether the threads that read and answer all calls still work, as far as is known. Each call asks them again.
    public func isAlive() -> Bool { pulse.isAlive() }

    /// Names the group alone, never the configuration: frameworks log the services that they run.
    public var description: String { "the gateway of \(configuration.kafka.group)" }
    /// Nothing: a dump or a mirror shows no member.
    public var customMirror: Mirror { Mirror(self, children: []) }

    /// Serves devices until the process is asked to stop.
    ///
    /// - Throws: `PickupError` or `KafkaError` if the gateway cannot go on.
    public func run() async throws {
        let metrics = PickupMetrics(build: build)
        metrics.begin(configuration.apps.map(\.name))
        let export = startExport(metrics)
        do { try await run(metrics) } catch {
            await Self.end(export)
            throw error
        }
        await Self.end(export)
        logger.notice("gateway.stopped", "the gateway stopped")
    }

    private func run(_ metrics: PickupMetrics) async throws {
        let store = TokenStore(capacity: pickup.cache, now: now)
        let properties = KafkaProperties(configuration, bootstrapServers: brokers)
        let producer = try ProducerPlace { [logger] () throws(KafkaError) in
            try KafkaProducer(properties.producer, logger: logger)
        }
        let unreadable = UnreadableRecords(metrics.unreadable, logger: logger)
        let past = TopicPast(
            configuration, age: pickup.follow, brokers: brokers, store: store, unreadable: unreadable, logger: logger,
            now: now, noted: { metrics.recalled($0) })
        let follower = TokenFollower(
            configuration, brokers: brokers, store: store, past: past, unreadable: unreadable, logger: logger, now: now)
        let maker = TermsMaker(
            started: pickup, nonces: try PickupFiles.nonces(pickup), metrics: metrics, logger: logger, now: now,
            isClockInDoubt: { follower.clock.isInDoubt })
        let terms = CurrentTerms(try maker.terms(configuration))
        let sender = EventSender(producer: producer, store: store, now: now)
        let asks = TokenAsks(
            store: store, sender: sender, ids: EventIDs(), forecaster: { terms.current.forecaster },
            now: now, admission: { terms.current.configuration.worker.admission },
            cold: ColdAsks(rate: pickup.coldRate, sender: sender) { metrics.asked($0) })
        let certificate = try ServedCertificate(pickup)
        let eventTopics: @Sendable () -> Set<String> = { Set(terms.current.apps.values.map(\.topic)) }
        let workers = WorkerWatch(
            configuration, brokers: brokers, store: store, eventTopics: eventTopics,
            // The first call after the start has half a second for its event, and does not wait for the topic's lookup.
            found: { producer.current.prepare([$0]) }, logger: logger, now: now)
        let health = GatewayHealth(
            follower: follower, workers: workers, store: store, eventTopics: eventTopics,
            sessions: terms.current.sources.map(\.keys),
            certificateEnd: certificate?.end,
            logger: logger, now: now)
        let limit = ConnectionLimit(pickup, files)
        let responder = PickupResponder(
            terms: terms,
            places: CallPlaces(pickup, connections: limit.connections) { metrics.refused($0) },
            clients: ClientAddresses(
                trusted: pickup.trustedProxies, header: pickup.proxyHeader, connections: ProxiedConnections()),
            asks: asks, follower: follower, health: health, metrics: metrics, now: now)
        let server = PickupServer(
            pickup: pickup, limit: limit, responder: responder,
            tls: certificate?.configuration, metrics: metrics, logger: logger, isReady: isReady)
        let upkeep = PickupUpkeep(
            store: store, asks: asks, terms: terms, health: health, metrics: metrics, coldRate: pickup.coldRate,
            now: now)
        let fetching = KeyFetching()
        fetching.follow(terms.current.sources)
        defer { fetching.follow([]) }
        let reloader = reloader(terms, maker, certificate, metrics) { terms in
            metrics.begin(terms.apps.keys)
            fetching.follow(terms.sources)
            health.replace(sessions: terms.sources.map(\.keys), certificateEnd: certificate?.end)
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            // Waiting devices are answered until the server has closed their connections, so the tasks that serve them
            // outlive its shutdown.
            let following = Task.detached { await follower.run() }
            let recalling = Task.detached { await past.run() }
            let keeping = Task.detached { await upkeep.run() }
            let looking = Task.detached { await workers.run() }
            let watching = Task.detached {
                await watch(
                    reloader, producer, metrics,
                    renew: {
                        follower.renew(); workers.renew()
                    })
            }
            defer { for task in [following, recalling, keeping, looking, watching] { task.cancel() } }
            let drain = PickupDrain(health: health, store: store, grace: pickup.drain, logger: logger)
            group.addTask { try await server.run(drain) }
            if let address = pickup.metrics {
                let hosts = configuration.admin?.hosts ?? []
                let monitoring = Task.detached {
                    try await metrics.serve(address.host, address.port, hosts: hosts, logger)
                }
                group.addTask {
                    try await withTaskCancellationHandler {
                        try await monitoring.value
                    } onCancel: {
                        monitoring.cancel()
                    }
                }
            }
            try await group.next()
            group.cancelAll()
        }
        await producer.close(within: .seconds(5))
    }

    // MARK: Changes while it runs

    private func reloader(
        _ terms: CurrentTerms, _ maker: TermsMaker, _ certificate: ServedCertificate?, _ metrics: PickupMetrics,
        _ replaced: @escaping @Sendable (PickupTerms) -> Void
    ) -> GatewayReloader? {
        guard let origin = origin?.0 else { return nil }
        return GatewayReloader(
            configuration, origin: origin, terms: terms, maker: maker, certificate: certificate, logLevel: logLevel,
            journal: ReloadJournal(metrics.reloads, logger: logger, now: now), replaced: replaced)
    }

    /// Watches the configuration's files and those of the Kafka clients' certificates, until the task is canceled.
    private func watch(
        _ reloader: GatewayReloader?, _ producer: ProducerPlace, _ metrics: PickupMetrics,
        renew: @escaping @Sendable () -> Void
    ) async {
        await withDiscardingTaskGroup { group in
            if let reloader, let files = origin?.files {
                let watcher = ConfigurationWatcher(requests: requests) { reloader.reload() }
                group.addTask { await watcher.run(since: files.merging(reloader.ownFiles) { first, _ in first }) }
            }
            guard let certificates = ClientCertificates(configuration) else { return }
            let watcher = CertificateWatcher(
                certificates, logger: logger,
                renew: { [logger] in
                    renew()
                    do throws(KafkaError) { try producer.renew() } catch {
                        logger.warning(
                            "gateway.clients-kept", "new Kafka clients cannot be made; those of before go on",
                            metadata: [LogKey.kafkaError: "\(error)"])
                    }
                },
                ended: { metrics.set(kafkaCertificateEnd: $0) })
            group.addTask { await watcher.run() }
        }
    }

    // MARK: Telemetry

    /// Starts the export of spans, in a task that does not see the graceful shutdown; nil where there is no
    /// collector.
    private func startExport(_ metrics: PickupMetrics) -> Task<Void, Never>? {
        guard let telemetry else { return nil }
        var random = SystemRandomNumberGenerator()
        let instance = RandomUUID.make(using: &random)
        let exporter = Exporter(
            to: telemetry.collector, queue: telemetry.spans, metrics: metrics.export,
            resource: {
                [
                    EndedSpan.Attribute("service.name", .text("remint-pickup")),
                    EndedSpan.Attribute("service.instance.id", .text(instance)),
                ]
            }, logger: logger, now: now)
        return Task.detached { await exporter.run() }
    }

    private static func end(_ export: Task<Void, Never>?) async {
        export?.cancel()
        await export?.value
    }
}

// MARK: Checks before a gateway starts

extension PickupService {
    /// Returns the problems of the gateway's files; empty where the configuration has no gateway.
    public static func diagnostics(for configuration: Configuration) -> [Diagnostic] {
        let diagnostics = PickupFiles.diagnostics(of: configuration) { session throws(PickupError) in
            try KeySourceFile.requireKey(in: session)
        }
        guard let pickup = configuration.pickup, let place = pickup.place,
            let problem = ConnectionLimit(pickup, .raised()).problem
        else { return diagnostics }
        return diagnostics + [Diagnostic(.error, at: place, problem)]
    }

    /// Returns notices about valid settings with consequences that an operator should know.
    public static func notices(for configuration: Configuration, at now: UnixTime) -> [Diagnostic] {
        guard let pickup = configuration.pickup, let place = pickup.place else { return [] }
        var notices: [Diagnostic] = []
        if let certificate = try? PickupFiles.tls(pickup),
            let diagnostic = CertificateEnd("pickup.tls.certificate", certificate.end).diagnostic(at: place, now)
        {
            notices.append(diagnostic)
        }
        if pickup.proof == .dpop, pickup.nonceSecret == nil {
            notices.append(
                Diagnostic(
                    .notice, at: place,
                    """
                    a proof of possession counts once on each instance: where there are several, whoever reads a request may repeat \
                    it on another for a minute and a half; write proof_nonce_secret: FILE, the same for all instances
                    """))
        }
        guard pickup.certificate == nil, pickup.trustedProxies.isEmpty else { return notices }
        return notices + [
            Diagnostic(
                .warning, at: place,
                """
                pickup speaks plain text and names no proxy: devices behind a proxy share the limits of its address; write \
                trusted_proxies: [the proxy's address], or tls where there is none
                """)
        ]
    }

    /// Fetches the keys of a session's section once.
    ///
    /// - Returns: the keys, in a line.
    /// - Throws: `PickupError` where no key verifies the session's tokens.
    public static func sessionKeys(
        of section: String, in configuration: Configuration, within limit: Duration
    ) async throws(PickupError) -> String {
        guard let session = configuration.pickup?.sessions.first(where: { $0.name == section }) else {
            throw PickupError("the configuration has no section pickup.\(section)")
        }
        return try await KeySourceFile.look(at: session, within: limit)
    }

    /// Returns the sessions that open each app, a line for each app; empty where the configuration has no gateway.
    public static func openedApps(of configuration: Configuration) -> [String] {
        configuration.pickup.map { DeviceApps(configuration, $0).lines } ?? []
    }
}
