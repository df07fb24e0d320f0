import NIOCore
import Synchronization

/// The connections of a server, so that its end can wait for theirs.
final class ServedConnections: Sendable {
    private struct State {
        var channels: [ObjectIdentifier: any Channel] = [:]
        /// Whether every connection is closed, and each that still comes.
        var isClosed = false
        var waiting: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    /// Adds a connection that has come.
    func add(_ channel: any Channel) {
        let isClosed = state.withLock { state in
            state.channels[ObjectIdentifier(channel)] = channel
            return state.isClosed
        }
        if isClosed { channel.close(promise: nil) }
    }

    /// Removes a connection that has ended.
    func remove(_ channel: any Channel) {
        let waiting = state.withLock { state -> CheckedContinuation<Void, Never>? in
            state.channels[ObjectIdentifier(channel)] = nil
            guard state.channels.isEmpty else { return nil }
            defer { state.waiting = nil }
            return state.waiting
        }
        waiting?.resume()
    }

    /// Closes every connection, whatever goes on there.
    func close() {
        let channels = state.withLock { state in
            state.isClosed = true
            return Array(state.channels.values)
        }
        for channel in channels { channel.close(promise: nil) }
    }

    /// Returns once no connection is left. A cancellation closes all of them.
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
