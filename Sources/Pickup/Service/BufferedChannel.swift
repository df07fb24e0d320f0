import HummingbirdCore
import Logging
import NIOCore

/// A server's connections, each with little memory of its own: what the system has received or cannot send yet stays with the system,
/// which then makes the client wait.
struct BufferedChannel<Base: ServerChildChannel>: ServerChildChannel {
    /// The most bytes that are read at once.
    private static var readBytes: Int { 16 << 10 }
    /// While more bytes than the higher wait to be sent, nothing is read and no stream goes on, until no more than the lower do.
    private static var unsentBytes: ChannelOptions.Types.WriteBufferWaterMark { .init(low: 8 << 10, high: 16 << 10) }

    let base: Base

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Base.Value> {
        channel.eventLoop.makeCompletedFuture {
            let options = channel.syncOptions
            try options?.setOption(.maxMessagesPerRead, value: 1)
            try options?.setOption(
                .recvAllocator,
                value: AdaptiveRecvByteBufferAllocator(minimum: 1024, initial: 2048, maximum: Self.readBytes))
            try options?.setOption(.writeBufferWaterMark, value: Self.unsentBytes)
        }.flatMap { base.setup(channel: channel, logger: logger) }
    }

    func handle(value: Base.Value, logger: Logger) async { await base.handle(value: value, logger: logger) }
}
