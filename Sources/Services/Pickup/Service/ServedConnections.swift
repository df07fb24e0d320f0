import NIOCore
import Synchronization

/// The connections of a server, whose end waits for theirs.
final class ServedConnections: Sendable {
    private struct State {
        var channels: [ObjectIdentifier: any Channel] = [:]
        /// Whether every connection is closed, and each further one too.
        var isClosed = false
        var waiting: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    /// Adds a new connection.
    func add(_ channel: any Channel) {
        let isClosed = state.withLock { state in
            state.channels[ObjectIdentifier(channel)] = channel
            return state.isClosed
        }
        if isClosed { channel.close(promise: nil) }
    }

    /// Removes a connection that is closed.
    func remove(_ channel: any Channel) {
        let waiting = state.withLock { state -> CheckedContinuation<Void, Never>? in
            state.channels[ObjectIdentifier(channel)] = nil
            guard state.channels.isEmpty else { return nil }
            defer { state.waiting = nil }
            return state.waiting
        }
        waiting?.resume()
    }

    /// Closes every connection, in whatever state it is.
    func close() {
        let channels = state.withLock { state in
            state.isClosed = true
            return Array(state.channels.values)
        }
        for channel in channels { channel.close(promise: nil) }
    }

    /// Returns when no connection is left. A cancellation closes all of them.
    func end() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if !state.channels.isEmpty { state.waiting = continuation }
                    return state.channels.isEmpty
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            close()
        }
    }
}
