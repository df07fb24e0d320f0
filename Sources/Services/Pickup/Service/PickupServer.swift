import Formats
import Hummingbird
import HummingbirdCore
import HummingbirdTLS
import Logging
import NIOCore
import NIOSSL
import ServiceLifecycle
import Serving
import Telemetry
import WorkerConfiguration

/// The HTTP side of the gateway.
struct PickupServer: Sendable {
    let pickup: Configuration.Pickup
    let limit: ConnectionLimit
    let responder: PickupResponder
    /// The certificate and key for TLS; nil for plain text.
    let tls: TLSConfiguration?
    let metrics: PickupMetrics
    let logger: Logger
    /// Called with the address once the server listens.
    let isReady: @Sendable (String) -> Void

    /// The connections that wait to be accepted: a thousand devices may call in the same moment.
    private static let backlog = 4096

    /// Serves until a graceful shutdown has been drained.
    ///
    /// - Throws: the error that keeps the server from listening.
    func run(_ drain: PickupDrain) async throws {
        var quiet = logger
        quiet.logLevel = .critical
        if limit.connections < pickup.connections {
            logger.notice(
                "gateway.connections-limited",
                "the limit of open files allows fewer connections than pickup.connections",
                metadata: [LogKey.connections: "\(limit.connections)"])
        }
        let (metrics, health, responder) = (metrics, responder.health, responder)
        let connections = OpenConnections(
            most: limit.connections, ofAddress: pickup.addressConnections, isProxy: responder.clients.isTrusted)
        let served = ServedConnections()
        let connection = DeviceConnection(
            connections: connections, served: served, date: AnswerDate(now: responder.now),
            isStopping: { health.isStopping },
            dropped: { reason in
                metrics.dropped(reason)
                if reason == .tooMany { health.refusedConnection() }
            },
            refused: { metrics.answered("other", $0) },
            respond: { request, body, channel, reply in await responder.respond(to: request, body, on: channel, reply) }
        )
        let server = try accepting(connection, among: connections).server(
            configuration: .init(
                address: .hostname(pickup.host, port: pickup.port), backlog: Self.backlog,
                availableConnectionsDelegate: MaximumAvailableConnections(limit.accepted, logger: quiet)),
            onServerRunning: { [logger, isReady] channel in
                let address = Self.text(channel.localAddress)
                logger.notice(
                    "gateway.listening", "the gateway listens", metadata: [LogKey.pickupAddress: "\(address)"])
                isReady(address)
            }, eventLoopGroup: EventLoopGroupProvider.singleton.eventLoopGroup, logger: quiet)
        do { try await drain.run(before: Serving(server: server, served: served), logger: quiet) } catch {
            throw PickupError.listening(at: pickup.host, pickup.port, named: "pickup.listen", error)
        }
    }

    /// Returns the channel that accepts connections, with the handlers before HTTP.
    private func accepting(
        _ connection: DeviceConnection, among connections: OpenConnections
    ) throws -> any ServerChildChannel {
        func proxied(_ base: some ServerChildChannel) -> any ServerChildChannel {
            guard pickup.proxyProtocol else { return base }
            return ProxiedChannel(
                base: base, connections: connections, proxied: responder.clients.connections,
                dropped: connection.dropped)
        }
        return try tls.map { proxied(try TLSChannel(connection, tlsConfiguration: $0)) } ?? proxied(connection)
    }

    /// A server that stops when its last connection is closed.
    private struct Serving: Service {
        let server: any Service
        let served: ServedConnections

        func run() async throws {
            do { try await server.run() } catch {
                served.close()
                throw error
            }
            await served.end()
        }
    }

    private static func text(_ address: SocketAddress?) -> String {
        guard let address, let host = address.ipAddress, let port = address.port else { return "" }
        return "\(HostAndPort(host: host, port: port))"
    }
}

/// The shutdown of a gateway, in an order in which no device loses anything. First the gateway is not ready any more
/// and serves on, until the load balancer has noticed. Then it asks streams to reconnect and waiting callers to ask
/// again, some at a time. Then the port closes.
struct PickupDrain: Sendable {
    /// The number of streams or calls that are closed together, and the pause after them. Closing all at once would
    /// stall every other call, and send all devices to the next instance together.
    private static let slice = (count: 500, pause: Duration.milliseconds(20))

    let health: GatewayHealth
    let store: TokenStore
    /// The time for which the gateway serves on (`pickup.drain`).
    let grace: Duration
    let logger: Logger

    /// Runs the drain, and returns when no call and no stream waits any more.
    func run() async {
        health.stop()
        logger.notice("gateway.draining", "the gateway is stopping; it serves until pickup.drain is over")
        // A cancellation ends the process, so the rest of the drain continues at once.
        try? await Task.sleep(for: grace)
        health.beginClosing()
        while store.hushSome(atMost: Self.slice.count) { try? await Task.sleep(for: Self.slice.pause) }
        while store.waiters.drain(atMost: Self.slice.count) { try? await Task.sleep(for: Self.slice.pause) }
        // The streams that were admitted just before.
        while store.hushSome(atMost: Self.slice.count) { try? await Task.sleep(for: Self.slice.pause) }
    }

    /// Runs `service` until the graceful shutdown of this task has been drained; only then the service sees the
    /// shutdown.
    ///
    /// - Throws: the error that ends the service early.
    func run(before service: any Service, logger: Logger) async throws {
        let group = ServiceGroup(configuration: .init(services: [.init(service: service)], logger: logger))
        // A task of its own does not inherit the shutdown.
        let serving = Task.detached { try await group.run() }
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask {
                try await withTaskCancellationHandler {
                    try await serving.value
                } onCancel: {
                    serving.cancel()
                }
            }
            tasks.addTask {
                try await gracefulShutdown()
                await run()
                await group.triggerGracefulShutdown()
                // The group waits for the service's end, not for this task's.
                try await Task.sleep(for: .seconds(86_400))
            }
            defer { tasks.cancelAll() }
            try await tasks.next()
        }
    }
}
