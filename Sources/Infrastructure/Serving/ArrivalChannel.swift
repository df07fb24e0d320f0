package import HummingbirdCore
package import Logging
package import NIOCore

/// An HTTP server's connections, none of which is lost as the server ends.
package struct ArrivalChannel<Base: ServerChildChannel, Inbound: Sendable, Outbound: Sendable>: ServerChildChannel
where Base.Value == NIOAsyncChannel<Inbound, Outbound> {
    private let base: Base

    /// The connections of `base`.
    package init(_ base: Base) { self.base = base }

    package func setup(
        channel: any Channel, logger: Logger
    ) -> EventLoopFuture<ArrivedConnection<Inbound, Outbound>> {
        base.setup(channel: channel, logger: logger).map { ArrivedConnection($0) }
    }

    package func handle(value: ArrivedConnection<Inbound, Outbound>, logger: Logger) async {
        await base.handle(value: value.take(), logger: logger)
    }
}

extension ArrivedConnection: ServerChildChannelValue {}
