import Formats
import HummingbirdCore
import Logging
import NIOCore
import Serving

/// A header of the PROXY protocol, version 2, as HAProxy's specification (section 2.2) has it.
struct ProxyHeader: Equatable {
    struct Malformed: Error {}

    /// The state of reading a connection's first bytes.
    enum Reading: Equatable {
        /// More bytes are needed.
        case incomplete
        /// A header of `length` bytes.
        case header(ProxyHeader, length: Int)
    }

    /// The caller; nil where the proxy connects for itself, or the caller has no IP address.
    let source: IPAddress?

    private static let signature: [UInt8] = [0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A]
    /// The longest header that is read, in bytes: addresses, and a proxy's further fields.
    private static let mostBytes = 4096

    /// Reads the header at the beginning of `bytes`.
    ///
    /// - Throws: `Malformed` where `bytes` begin with no header.
    static func read(_ bytes: [UInt8]) throws(Malformed) -> Reading {
        guard signature.starts(with: bytes.prefix(signature.count)) else { throw Malformed() }
        guard bytes.count >= 16 else { return .incomplete }
        let (version, family) = (bytes[12], bytes[13])
        let length = 16 + (Int(bytes[14]) << 8 | Int(bytes[15]))
        guard version >> 4 == 2, version & 0x0F <= 1, length <= mostBytes else { throw Malformed() }
        guard bytes.count >= length else { return .incomplete }
        // LOCAL: the proxy's own connection, as for a health check.
        guard version & 0x0F == 1 else { return .header(ProxyHeader(source: nil), length: length) }
        let size: Int
        switch family >> 4 {
        case 1: size = 4
        case 2: size = 16
        default: return .header(ProxyHeader(source: nil), length: length)
        }
        guard length >= 16 + size * 2 + 4 else { throw Malformed() }
        return .header(ProxyHeader(source: IPAddress(bytes: Array(bytes[16..<(16 + size)]))), length: length)
    }
}

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
