import NIOCore
import Synchronization

/// A connection that was accepted, and whose it is.
///
/// One that comes in the moment in which the server ends is taken by nobody, and NIO stops the process for a connection that is let go
/// of without being closed. So it closes itself.
final class SignerArrival: Sendable {
    typealias Connection = NIOAsyncChannel<SignerFrame, ByteBuffer>

    /// The account of whoever connected.
    let user: UInt32
    private let connection: Connection
    private let isTaken = Atomic(false)

    init(_ connection: Connection, of user: UInt32) {
        self.connection = connection
        self.user = user
    }

    deinit {
        guard !isTaken.load(ordering: .relaxed) else { return }
        // The peer hears it by the connection's end.
        Task { [connection] in try? await connection.executeThenClose { _, _ in } }
    }

    /// The connection, for whoever closes it.
    func take() -> Connection {
        isTaken.store(true, ordering: .relaxed)
        return connection
    }
}
