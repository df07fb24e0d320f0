import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1
import Serving
import Synchronization

/// A device's connection: HTTP/1 by handlers alone, with little memory of its own. The operating system keeps further
/// bytes in both directions, and then makes the client wait.
struct DeviceConnection: ServerChildChannel {
    struct Opened: ServerChildChannelValue {
        let channel: any Channel
    }

    /// The limit on a request's headers, in bytes. No device sends more.
    private static let headerLimit = 16 << 10
    /// The most header fields of a request: devices, and the proxies in front of them, send some thirty.
    private static let headerFieldLimit = 100
    /// The limits on unsent bytes. Above the higher one, nothing is read and no stream continues, until no more than
    /// the lower one are left.
    private static let unsentBytes = ChannelOptions.Types.WriteBufferWaterMark(low: 8 << 10, high: 16 << 10)

    /// The time after which the system closes a connection whose client confirms no bytes, in milliseconds: two
    /// heartbeats of a stream (`TCP_USER_TIMEOUT` of Linux). A client that changed its network sends nothing more.
    static let unconfirmed = 30_000
    static let userTimeout = ChannelOptions.Types.SocketOption(level: .tcp, name: .init(rawValue: 18))

    let connections: OpenConnections
    let served: ServedConnections
    let date: AnswerDate
    let isStopping: @Sendable () -> Bool
    /// Called with the reason of each closed connection.
    let dropped: @Sendable (ConnectionGuard.Reason) -> Void
    /// Called with the status of each request that is not served.
    let refused: @Sendable (Int) -> Void
    let respond: CallHandler.Respond

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Opened> {
        channel.eventLoop.makeCompletedFuture {
            let options = channel.syncOptions
            try options?.setOption(.maxMessagesPerRead, value: 1)
            try options?.setOption(.recvAllocator, value: BriefBuffers())
            try options?.setOption(.writeBufferWaterMark, value: Self.unsentBytes)
            try options?.setOption(Self.userTimeout, value: Self.unconfirmed)
            try addHandlers(to: channel.pipeline.syncOperations)
            return Opened(channel: channel)
        }
    }

    /// Returns at once: the connection's handlers do the work.
    func handle(value: Opened, logger: Logger) async {}

    private func addHandlers(to pipeline: ChannelPipeline.SynchronousOperations) throws {
        var limits = NIOHTTPDecoderLimitConfiguration()
        limits.maxHeaderFieldSize = Self.headerLimit
        limits.maxHeaderListSize = Self.headerLimit
        limits.maxHeaderFieldCount = Self.headerFieldLimit
        let gate = RequestGate { [dropped] in dropped(.tooManyRequests) }
        try pipeline.addHandler(HTTPResponseEncoder())
        try pipeline.addHandler(gate)
        try pipeline.addHandler(
            ByteToMessageHandler(
                HTTPRequestDecoder(
                    leftOverBytesStrategy: .dropBytes, informationalResponseStrategy: .drop,
                    limitConfiguration: limits)))
        try pipeline.addHandler(
            HTTP1Rules(gate, isStopping: isStopping, date: { [date] in date.text }, refused: refused))
        try pipeline.addHandler(HTTP1ToHTTPServerCodec(secure: false))
        try pipeline.addHandler(ConnectionGuard(among: connections, kind: PickupCall.kind, dropped: dropped))
        try pipeline.addHandler(ClientDeparture())
        try pipeline.addHandler(CallHandler(among: served, date: date, respond))
    }
}

/// The buffers for received bytes, none of which is kept until the next bytes arrive.
///
/// The library keeps the first buffer for as long as the connection is open, so that one is small.
private struct BriefBuffers: RecvByteBufferAllocator {
    private var isFirst = true
    private var sizes = AdaptiveRecvByteBufferAllocator(minimum: 1024, initial: 2048, maximum: 16 << 10)

    func buffer(allocator: ByteBufferAllocator) -> ByteBuffer {
        isFirst ? allocator.buffer(capacity: 64) : sizes.buffer(allocator: allocator)
    }

    /// Records the number of received bytes.
    ///
    /// - Returns: true, so that the library asks for a new buffer each time.
    mutating func record(actualReadBytes: Int) -> Bool {
        if !isFirst { _ = sizes.record(actualReadBytes: actualReadBytes) }
        isFirst = false
        return true
    }
}

/// Notifies a stream that its client is gone. A client that closes its side counts as gone: until something is sent to
/// it, the system cannot distinguish it from one that left.
final class ClientDeparture: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart

    private var hasLeft = false
    /// Called once: a connection has one stream at a time.
    private var told: (@Sendable () -> Void)?

    /// Runs `body` when the client of `channel` has left, at once where it already has. The connection's next stream
    /// replaces `body`.
    static func tell(_ channel: any Channel, _ body: @escaping @Sendable () -> Void) {
        channel.eventLoop.execute {
            // A connection that is closed has no handlers.
            guard let handler = try? channel.pipeline.syncOperations.handler(type: Self.self) else { return body() }
            handler.tell(body)
        }
    }

    private func tell(_ body: @escaping @Sendable () -> Void) {
        if hasLeft { body() } else { told = body }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event as? ChannelEvent == .inputClosed || event is ConnectionGuard.InputEnded { left() }
        context.fireUserInboundEventTriggered(event)
    }

    func channelInactive(context: ChannelHandlerContext) {
        left()
        context.fireChannelInactive()
    }

    private func left() {
        hasLeft = true
        told?()
        told = nil
    }
}

/// The connections of a server, whose end waits for theirs.
final class ServedConnections: Sendable {
    private struct State {
        var channels: [ObjectIdentifier: any Channel] = [:]
        /// Whether every connection is closed, and each further one too.
        var isClosed = false
        var waiting: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    func add(_ channel: any Channel) {
        let isClosed = state.withLock { state in
            state.channels[ObjectIdentifier(channel)] = channel
            return state.isClosed
        }
        if isClosed { channel.close(promise: nil) }
    }

    func remove(_ channel: any Channel) {
        let waiting = state.withLock { state -> CheckedContinuation<Void, Never>? in
            state.channels[ObjectIdentifier(channel)] = nil
            guard state.channels.isEmpty else { return nil }
            defer { state.waiting = nil }
            return state.waiting
        }
        waiting?.resume()
    }

    func close() {
        let channels = state.withLock { state in
            state.isClosed = true
            return Array(state.channels.values)
        }
        for channel in channels { channel.close(promise: nil) }
    }

    /// Returns when no connection is left. A cancellation closes all of them.
    func end() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if !state.channels.isEmpty { state.waiting = continuation }
                    return state.channels.isEmpty
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            close()
        }
    }
}
