import NIOCore
import Synchronization

/// Applies the decisions of `ConnectionTable` to a signer's connections.
final class SignerConnections: Sendable {
    private struct State {
        var table: ConnectionTable
        var channels: [Int: any Channel] = [:]
    }

    private let state: Mutex<State>
    private let uptime: @Sendable () -> Duration

    /// - Parameter uptime: how long the signer has run; it only grows.
    init(_ table: ConnectionTable, uptime: @escaping @Sendable () -> Duration) {
        state = Mutex(State(table: table))
        self.uptime = uptime
    }

    /// The number of connections.
    var count: Int { state.withLock { $0.table.count } }

    /// Admits a new connection of `user`, or throws.
    ///
    /// - Returns: its number.
    /// - Throws: the reason for closing it.
    func admit(_ channel: any Channel, of user: UInt32) throws(Refusal) -> Int {
        let now = uptime()
        let (admission, shed) = state.withLock { state -> (ConnectionTable.Admission, (any Channel)?) in
            let admission = state.table.admit(user, at: now)
            guard case .admitted(let number, let replaced) = admission else { return (admission, nil) }
            state.channels[number] = channel
            return (admission, replaced.flatMap { state.channels.removeValue(forKey: $0) })
        }
        if let shed { Self.close(shed, .replaced) }
        switch admission {
        case .admitted(let number, _): return number
        case .refused(let reason): throw Refusal(reason: reason)
        }
    }

    /// The reason that a connection is not admitted.
    struct Refusal: Error {
        let reason: SignerClosing
    }

    /// Notes that a whole question arrived.
    func asked(_ number: Int) { change { $0.asked(number, at: $1) } }

    /// Notes that the signer has an answer.
    func answered(_ number: Int) { change { $0.answered(number, at: $1) } }

    /// Notes that the peer took an answer.
    func delivered(_ number: Int) { change { $0.delivered(number, at: $1) } }

    /// Notes that the connection is closed.
    func left(_ number: Int) {
        state.withLock { state in
            state.table.left(number)
            state.channels[number] = nil
        }
    }

    /// Closes connections that were silent for too long.
    func closeOverdue() {
        let now = uptime()
        let overdue = state.withLock { state in
            state.table.takeOverdue(at: now).compactMap { state.channels.removeValue(forKey: $0) }
        }
        for channel in overdue { Self.close(channel, .idle) }
    }

    private func change(_ change: (inout ConnectionTable, Duration) -> Void) {
        let now = uptime()
        state.withLock { change(&$0.table, now) }
    }

    /// Closes a connection, after sending the reason, as far as the peer accepts it.
    private static func close(_ channel: any Channel, _ reason: SignerClosing) {
        if let bytes = try? SignerFrame.closing(reason).encoded() { channel.writeAndFlush(bytes, promise: nil) }
        channel.close(promise: nil)
    }
}
