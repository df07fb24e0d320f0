import Formats
import HummingbirdCore
import Logging
import NIOCore
import Serving

/// Reads the PROXY header at the beginning of a trusted proxy's connection, and then removes itself.
final class ProxyHeaderHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer

    private let connections: OpenConnections
    private let proxied: ProxiedConnections
    private let dropped: @Sendable (ConnectionGuard.Reason) -> Void
    private var received: ByteBuffer?
    /// Whether the header was read, so that further bytes belong to the connection itself.
    private var isRead = false

    /// - Parameters:
    ///   - connections: limits the open connections per address.
    ///   - proxied: remembers the addresses that proxies name.
    ///   - dropped: called with the reason of each closed connection.
    init(
        _ connections: OpenConnections, _ proxied: ProxiedConnections,
        dropped: @escaping @Sendable (ConnectionGuard.Reason) -> Void
    ) {
        self.connections = connections
        self.proxied = proxied
        self.dropped = dropped
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isRead else { return context.fireChannelRead(data) }
        var bytes = received ?? ByteBuffer()
        var more = unwrapInboundIn(data)
        bytes.writeBuffer(&more)
        received = bytes
        guard case .success(let reading) = Result(catching: { try ProxyHeader.read(Array(bytes.readableBytesView)) })
        else {
            return drop(.proxyHeader, context)
        }
        guard case .header(let header, let length) = reading else { return }
        if let source = header.source {
            guard let place = connections.take(behindProxy: source) else { return drop(.tooManyOfAddress, context) }
            proxied.note(source, place, on: context.channel)
        }
        bytes.moveReaderIndex(forwardBy: length)
        received = nil
        isRead = true
        if bytes.readableBytes > 0 { context.fireChannelRead(NIOAny(bytes)) }
        context.pipeline.syncOperations.removeHandler(self, promise: nil)
    }

    private func drop(_ reason: ConnectionGuard.Reason, _ context: ChannelHandlerContext) {
        received = nil
        guard context.channel.isActive else { return }
        dropped(reason)
        context.close(promise: nil)
    }
}

/// A server's connections. Those of trusted proxies begin with a PROXY header, before TLS and HTTP.
struct ProxiedChannel<Base: ServerChildChannel>: ServerChildChannel {
    let base: Base
    let connections: OpenConnections
    let proxied: ProxiedConnections
    let dropped: @Sendable (ConnectionGuard.Reason) -> Void

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Base.Value> {
        channel.eventLoop.makeCompletedFuture {
            guard connections.isTrusted(channel) else { return }
            try channel.pipeline.syncOperations.addHandler(ProxyHeaderHandler(connections, proxied, dropped: dropped))
        }.flatMap { base.setup(channel: channel, logger: logger) }
    }

    func handle(value: Base.Value, logger: Logger) async { await base.handle(value: value, logger: logger) }
}
