import HummingbirdCore
import Logging
import NIOCore

/// A server's connections, each with little memory of its own: the operating system keeps further bytes in both
/// directions, and then makes the client wait.
struct BufferedChannel<Base: ServerChildChannel>: ServerChildChannel {
    /// The most bytes that are read at once.
    private static var readBytes: Int { 16 << 10 }
    /// The limits on unsent bytes. Above the higher one, nothing is read and no stream continues, until no more than
    /// the lower one are left.
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
