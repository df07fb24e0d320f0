import Access
import AdapterKit
import HTTPTypes
import Hummingbird
import HummingbirdCore
import HummingbirdTLS
@_spi(Decryption) import JOSE
import Logging
import NIOCore
import NIOSSL
import Telemetry
import Worker
import WorkerConfiguration

/// A request's context, with its origin.
struct PickupContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let address: SocketAddress?
    let channel: any Channel
    /// The identity of the connection.
    var connection: ObjectIdentifier { ObjectIdentifier(channel) }

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        channel = source.channel
        address = source.channel.remoteAddress
    }
}

/// The HTTP side of the gateway.
struct PickupServer: Sendable {
    /// The limit on a request's headers, in bytes. No device sends more.
    private static let headerLimit = 16 << 10
    /// The time for which a connection may be silent.
    private static let idle = TimeAmount.seconds(90)

    let pickup: Configuration.Pickup
    let responder: PickupResponder
    /// The certificate and key for TLS; nil for plain text.
    let tls: TLSConfiguration?
    let metrics: PickupMetrics
    let logger: Logger
    /// Called with the address once the server listens.
    let isReady: @Sendable (String) -> Void

    /// Serves until a graceful shutdown has been drained.
    ///
    /// - Throws: the error that keeps the server from listening.
    func run(_ drain: PickupDrain) async throws {
        var quiet = logger
        quiet.logLevel = .critical
        let limits = HTTP1Channel.Configuration.DecoderConfiguration(
            maxHeaderFieldSize: Self.headerLimit, maxHeaderListSize: Self.headerLimit, maxHeaderFieldCount: 100)
        let metrics = metrics
        let health = responder.health
        let held = responder.held
        let connections = OpenConnections(
            places: OpenPlaces(most: pickup.connections), ofAddress: pickup.addressConnections,
            clients: responder.clients)
        let configuration = HTTP1Channel.Configuration(
            additionalChannelHandlers: [
                HTTP1RulesEntrance(
                    isStopping: { health.isStopping }, overflowed: { metrics.dropped(.tooManyRequests) }),
                ConnectionGuard(among: connections, dropped: { metrics.dropped($0) }),
                ClientDeparture(), HeldCallHandler(held),
            ],
            idleTimeout: Self.idle, httpDecoderConfiguration: limits)
        let builder = HTTPServerBuilder { [tls, isProxied = pickup.proxyProtocol] responder in
            let http = BufferedChannel(base: HTTP1Channel(responder: responder, configuration: configuration))
            func proxied<Base: ServerChildChannel, Inbound, Outbound>(_ base: Base) -> any ServerChildChannel
            where Base.Value == NIOAsyncChannel<Inbound, Outbound> {
                guard isProxied else { return ArrivalChannel(base) }
                return ArrivalChannel(
                    ProxiedChannel(base: base, connections: connections, dropped: { metrics.dropped($0) }))
            }
            return try tls.map { proxied(try TLSChannel(http, tlsConfiguration: $0)) } ?? proxied(http)
        }
        let application = Application(
            responder: responder, server: builder,
            // A thousand devices may connect at the same moment.
            configuration: .init(address: .hostname(pickup.host, port: pickup.port), backlog: 4096),
            onServerRunning: { channel in
                let address = Self.text(channel.localAddress)
                logger.notice("the gateway listens", metadata: [LogKey.pickupAddress: "\(address)"])
                isReady(address)
            }, logger: quiet)
        try await drain.run(before: application, logger: quiet)
    }

    private static func text(_ address: SocketAddress?) -> String {
        guard let address, let host = address.ipAddress, let port = address.port else { return "" }
        return host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}
