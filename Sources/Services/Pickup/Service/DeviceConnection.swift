import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOHTTPTypesHTTP1
import Serving

/// A device's connection: HTTP/1 by handlers alone, with little memory of its own. The operating system keeps further
/// bytes in both directions, and then makes the client wait.
struct DeviceConnection: ServerChildChannel {
    /// A connection that was set up.
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
    /// heartbeats of a stream (`TCP_USER_TIMEOUT` of Linux). A client that changed its network says nothing.
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
