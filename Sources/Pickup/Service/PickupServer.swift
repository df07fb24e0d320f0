import Serving
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
import WorkerConfiguration

/// A request's context: where it comes from.
struct PickupContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let address: SocketAddress?
    let channel: any Channel
    /// The connection's name.
    var connection: ObjectIdentifier { ObjectIdentifier(channel) }

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        channel = source.channel
        address = source.channel.remoteAddress
    }
}

/// The HTTP side of the gateway.
struct PickupServer: Sendable {
    /// More headers are no device's, in bytes.
    private static let headerLimit = 16 << 10
    /// How long a connection may say nothing.
    private static let idle = TimeAmount.seconds(90)

    let pickup: Configuration.Pickup
    let responder: PickupResponder
    /// What it shows; nil for plain text.
    let tls: TLSConfiguration?
    let metrics: PickupMetrics
    let logger: Logger
    /// Told the address once it listens.
    let isReady: @Sendable (String) -> Void

    /// Serves until a graceful shutdown has been drained.
    ///
    /// - Throws: what keeps it from listening.
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
            // A thousand devices may call in the same moment.
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
