import Access
public import AdapterKit
import Hummingbird
@_spi(Decryption) import JOSE
import Kafka
public import Logging
import NIOCore
import Pipeline
public import ServiceLifecycle
import Telemetry
import Worker
public import WorkerConfiguration

/// The gateway: what devices call. Stateless: what it knows it has from the token topic, and what it does not know is minted anew.
public struct PickupService: Service, CustomStringConvertible, CustomReflectable {
    private let configuration: Configuration
    private let pickup: Configuration.Pickup
    private let brokers: String
    private let logger: Logger
    private let now: @Sendable () -> UnixTime
    private let isReady: @Sendable (String) -> Void

    /// - Parameters:
    ///   - brokers: where the topics are.
    ///   - isReady: told the address once it listens.
    /// - Throws: `PickupError` where the configuration has no gateway.
    public init(
        _ configuration: Configuration, brokers: String, logger: Logger, now: @escaping @Sendable () -> UnixTime,
        isReady: @escaping @Sendable (String) -> Void = { _ in }
    ) throws(PickupError) {
        guard let pickup = configuration.pickup else {
            throw PickupError("the configuration has no section pickup; remint config sample shows one")
        }
        self.configuration = configuration
        self.pickup = pickup
        self.brokers = brokers
        self.logger = logger
        self.now = now
        self.isReady = isReady
    }

    /// Not what it is configured with: frameworks log the services they run.
    public var description: String { "the gateway of \(configuration.kafka.group)" }
    public var customMirror: Mirror { Mirror(self, children: []) }

    public func run() async throws {
        let metrics = PickupMetrics()
        let desk = TokenDesk(capacity: pickup.cache, now: now)
        let properties = KafkaProperties(configuration, bootstrapServers: brokers)
        let producer = try KafkaProducer(properties.producer, logger: logger)
        let unreadable = UnreadableRecords(metrics.unreadable, logger: logger)
        let past = TopicPast(
            configuration, age: pickup.follow, brokers: brokers, desk: desk, unreadable: unreadable, logger: logger,
            now: now, noted: { metrics.recalled($0) })
        let follower = TokenFollower(
            configuration, brokers: brokers, desk: desk, past: past, unreadable: unreadable, logger: logger, now: now)
        let apps = apps
        let forecaster = EventForecaster(
            apps: configuration.pipelineApps,
            maximumBytes: configuration.worker.maximumEventBytes, liveTopic: configuration.topics.invalidations,
            bulkTopic: configuration.topics.invalidationsBulk)
        let sender = EventSender(producer: producer, now: now)
        let asks = TokenAsks(
            desk: desk, sender: sender, ids: EventIDs(), forecaster: forecaster,
            now: now, coalesce: configuration.worker.admission.coalesce.microseconds,
            probeWait: configuration.worker.admission.probeWait.components.seconds,
            cold: ColdAsks(rate: pickup.coldRate, sender: sender, desk: desk) { metrics.asked($0) })
        let keySource = KeySourceFile(pickup.session, logger: logger)
        let responder = PickupResponder(
            apps: apps, access: try access(keySource, metrics), asks: asks, keys: try PickupFiles.sealKeys(pickup),
            follower: follower, frame: PickupFrame(origins: Set(pickup.origins), metrics: metrics),
            held: HeldCalls(), metrics: metrics, now: now)
        let server = PickupServer(
            pickup: pickup, responder: responder, tls: try PickupFiles.tls(pickup), metrics: metrics, logger: logger,
            isReady: isReady)
        let upkeep = PickupUpkeep(desk: desk, asks: asks, apps: apps, metrics: metrics, now: now)
        try await withThrowingTaskGroup(of: Void.self) { group in
            // Devices that wait are answered until the server has let go of them, so what serves them outlives its shutdown.
            let following = Task.detached { await follower.run() }
            let recalling = Task.detached { await past.run() }
            let keeping = Task.detached { await upkeep.run() }
            let fetching = Task.detached { await keySource?.run() }
            defer { for task in [following, recalling, keeping] { task.cancel() } }
            defer { fetching.cancel() }
            group.addTask { try await server.run() }
            if let address = pickup.metrics {
                group.addTask { try await metrics.serve(address.host, address.port, logger) }
            }
            group.addTask { try await upkeep.drainOnShutdown() }
            try await group.next()
            group.cancelAll()
        }
        await producer.close(within: .seconds(5))
        logger.notice("the gateway stopped")
    }

    private var apps: [String: PickupApp] {
        let apps = configuration.apps.map { app in
            PickupApp(app, pickup.users[app.name], topic: app.topics.first ?? configuration.topics.invalidations)
        }
        return Dictionary(apps.map { ($0.name, $0) }) { first, _ in first }
    }

    private func access(_ keys: KeySourceFile?, _ metrics: PickupMetrics) throws -> AskerAccess {
        let backends = pickup.apiKeys.compactMap { key in
            APIKey(name: key.name, hash: key.hash, scope: key.apps.isEmpty ? .all : .apps(key.apps))
        }
        let rules = LimitRules(
            subject: RequestRate(perSecond: Double(pickup.userRate), burst: pickup.userRate * 2),
            caller: RequestRate(perSecond: Double(pickup.callerRate), burst: pickup.callerRate * 2),
            address: RequestRate(perSecond: Double(pickup.addressRate), burst: pickup.addressRate * 2),
            total: RequestRate(perSecond: Double(pickup.totalRate), burst: pickup.totalRate * 2))
        let devices: DeviceAccess? =
            if let session = pickup.session, let keys {
                DeviceAccess(
                    sessions: SessionVerifier(
                        rules: SessionRules(
                            issuer: session.issuer, audience: session.audience, algorithms: session.algorithms,
                            skew: session.skew, userClaim: session.userClaim), keys: keys.keys),
                    proofs: DPoPVerifier(), requiresProof: pickup.proof == .dpop)
            } else { nil }
        let scheme = pickup.certificate == nil ? "http" : "https"
        return AskerAccess(
            devices: devices, backends: APIKeys(backends), limits: SharedLimits(rules, now: { .now }),
            publicURL: pickup.publicURL ?? "\(scheme)://\(pickup.host):\(pickup.port)", now: now,
            refused: { metrics.refused($0) })
    }
}
