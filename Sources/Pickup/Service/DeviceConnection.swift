import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOHTTPTypesHTTP1

/// A device's connection: HTTP/1 by handlers alone, with little memory of its own. What the system has received or cannot send yet stays
/// with the system, which then makes the client wait.
struct DeviceConnection: ServerChildChannel {
    /// A connection that is set up.
    struct Opened: ServerChildChannelValue {
        let channel: any Channel
    }

    /// More headers are no device's, in bytes.
    private static let headerLimit = 16 << 10
    /// While more bytes than the higher wait to be sent, nothing is read and no stream goes on, until no more than the lower do.
    private static let unsentBytes = ChannelOptions.Types.WriteBufferWaterMark(low: 8 << 10, high: 16 << 10)

    let connections: OpenConnections
    let served: ServedConnections
    let date: AnswerDate
    let isStopping: @Sendable () -> Bool
    /// Told why a connection is closed.
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
            try addHandlers(to: channel.pipeline.syncOperations)
            return Opened(channel: channel)
        }
    }

    /// A connection goes on by its handlers.
    func handle(value: Opened, logger: Logger) async {}

    private func addHandlers(to pipeline: ChannelPipeline.SynchronousOperations) throws {
        var limits = NIOHTTPDecoderLimitConfiguration()
        limits.maxHeaderFieldSize = Self.headerLimit
        limits.maxHeaderListSize = Self.headerLimit
        limits.maxHeaderFieldCount = 100
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
        try pipeline.addHandler(ConnectionGuard(among: connections, dropped: dropped))
        try pipeline.addHandler(ClientDeparture())
        try pipeline.addHandler(CallHandler(among: served, date: date, respond))
    }
}

/// The buffers of what a connection receives, none of which is kept until the next bytes come.
///
/// The library keeps the first one for as long as the connection is open; so that is a small one.
private struct BriefBuffers: RecvByteBufferAllocator {
    private var isFirst = true
    private var sizes = AdaptiveRecvByteBufferAllocator(minimum: 1024, initial: 2048, maximum: 16 << 10)

    func buffer(allocator: ByteBufferAllocator) -> ByteBuffer {
        isFirst ? allocator.buffer(capacity: 64) : sizes.buffer(allocator: allocator)
    }

    /// Records the size of what was read.
    ///
    /// - Returns: true, with which the library asks for a new buffer each time.
    mutating func record(actualReadBytes: Int) -> Bool {
        if !isFirst { _ = sizes.record(actualReadBytes: actualReadBytes) }
        isFirst = false
        return true
    }
}
