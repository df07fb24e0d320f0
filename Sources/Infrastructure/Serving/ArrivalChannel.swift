package import HummingbirdCore
import HummingbirdTLS
package import Logging
package import NIOCore
package import NIOSSL
import Synchronization

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

/// A connection that an HTTP server accepted.
///
/// If a connection arrives at the moment when the server ends, nobody takes it, and NIO stops the process for a
/// connection that is released without being closed. So it closes itself.
package final class ArrivedConnection<Inbound: Sendable, Outbound: Sendable>: Sendable {
    private let connection: NIOAsyncChannel<Inbound, Outbound>
    private let isTaken = Atomic(false)

    package init(_ connection: NIOAsyncChannel<Inbound, Outbound>) { self.connection = connection }

    deinit {
        guard !isTaken.load(ordering: .relaxed) else { return }
        // The peer hears it by the connection's end.
        Task { [connection] in try? await connection.executeThenClose { _, _ in } }
    }

    package var channel: any Channel { connection.channel }

    /// Returns the connection to a caller that will close it.
    package func take() -> NIOAsyncChannel<Inbound, Outbound> {
        isTaken.store(true, ordering: .relaxed)
        return connection
    }
}

extension HTTPServerBuilder {
    /// Returns a server of HTTP/1 that loses no connection when it ends.
    ///
    /// - Parameter tls: the server's certificate and the accepted clients; nil for plain text.
    package static func arrivals(
        _ configuration: HTTP1Channel.Configuration = .init(), tls: TLSConfiguration? = nil
    ) -> HTTPServerBuilder {
        HTTPServerBuilder { responder in
            let http = HTTP1Channel(responder: responder, configuration: configuration)
            guard let tls else { return ArrivalChannel(http) }
            return ArrivalChannel(try TLSChannel(http, tlsConfiguration: tls))
        }
    }
}
