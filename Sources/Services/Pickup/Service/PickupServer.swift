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
    /// The number of connections that may be open.
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
