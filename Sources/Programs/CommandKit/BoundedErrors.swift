import Foundation
import Synchronization

/// A service's standard error. If nobody reads it, the service drops lines instead of waiting for its reader for ever, and states their
/// number once there is room again.
package final class BoundedErrors: Sendable {
    private struct State {
        var dropped = 0
        /// Whether a line was cut off within.
        var isTorn = false
    }

    /// The most bytes that a pipe takes without waiting once it has room (`PIPE_BUF`).
    private static let piece = 4096
    private let descriptor: Int32
    private let limit: Int32
    private let state = Mutex(State())

    /// - Parameter limit: the longest wait for room, in milliseconds. While lines are being dropped, none waits.
    package init(descriptor: Int32 = 2, limit: Int32 = 1000) { (self.descriptor, self.limit) = (descriptor, limit) }

    @Sendable package func write(_ line: String) {
        state.withLock { state in
            var text = line
            if state.dropped > 0 {
                let words = "\(state.dropped) log lines were dropped, because nobody read standard error"
                let json = #"{"level":"warning","message":"\#(words)"}"#
                let note = line.hasPrefix("{") ? json : "remint: warning: \(words)"
                text = "\(state.isTorn ? "\n" : "")\(note)\n\(line)"
            }
            let bytes = Array(text.utf8)
            var done = 0
            while done < bytes.count {
                let end = min(bytes.count, done + Self.piece)
                let count = write(bytes[done..<end], within: state.dropped > 0 ? 0 : limit)
                guard count > 0 else {
                    if done > 0 { state.isTorn = true }
                    state.dropped += 1
                    return
                }
                done += count
            }
            state = State()
        }
    }

    /// Returns the number of written bytes; 0 where there was no room in time, or the stream cannot be written.
    private func write(_ bytes: ArraySlice<UInt8>, within limit: Int32) -> Int {
        var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        guard unsafe poll(&waiting, 1, limit) > 0, waiting.revents & Int16(POLLOUT) != 0 else { return 0 }
        return max(0, unsafe bytes.withUnsafeBytes { unsafe Foundation.write(descriptor, $0.baseAddress, $0.count) })
    }
}
