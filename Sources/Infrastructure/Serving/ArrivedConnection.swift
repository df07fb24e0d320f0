package import NIOCore
import Synchronization

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
