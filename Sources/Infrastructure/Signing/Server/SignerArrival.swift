import NIOCore
import Synchronization

/// A connection that was accepted, with its user.
///
/// If a connection arrives at the moment when the server ends, nobody takes it, and NIO stops the process for a
/// connection that is released without being closed. So it closes itself.
final class SignerArrival: Sendable {
    typealias Connection = NIOAsyncChannel<SignerFrame, ByteBuffer>

    /// The account of the connected process.
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

    /// Returns the connection to a caller that will close it.
    func take() -> Connection {
        isTaken.store(true, ordering: .relaxed)
        return connection
    }
}
