import NIOCore
import Synchronization

/// A request's body while its bytes arrive. It keeps no more of them than a report may have.
final class ArrivingBody: Sendable {
    private enum End {
        case complete
        case failed(any Error)
    }

    private struct State {
        var bytes = ByteBuffer()
        var end: End?
        var reader: CheckedContinuation<ByteBuffer, any Error>?

        /// The result of reading the whole body; nil while more may arrive.
        var outcome: Result<ByteBuffer, any Error>? {
            switch end {
            case .complete: .success(bytes)
            case .failed(let error): .failure(error)
            case nil: nil
            }
        }
    }

    static let none = {
        let body = ArrivingBody(limit: 0)
        body.end()
        return body
    }()

    private let limit: Int
    /// Called when the body is wanted: its client may wait for the word to send it.
    private let wanted: @Sendable () -> Void
    private let state = Mutex(State())

    /// A body of at most `limit` bytes.
    ///
    /// - Parameter wanted: called once the body is wanted, on any thread.
    init(limit: Int = RequestHead.bodyLimit, wanted: @escaping @Sendable () -> Void = {}) {
        (self.limit, self.wanted) = (limit, wanted)
    }

    // MARK: The connection's side

    /// Takes the next bytes. A body that is too long is not kept.
    func receive(_ more: ByteBuffer) {
        change { state in
            guard state.end == nil else { return }
            if state.bytes.readableBytes + more.readableBytes > limit {
                state.bytes = ByteBuffer()
                state.end = .failed(NIOTooManyBytesError(maxBytes: limit))
            } else {
                state.bytes.writeImmutableBuffer(more)
            }
        }
    }

    /// Drops the bytes, and those that still come: the request was answered without them.
    func discard() {
        // Every request without a body has the same one.
        guard limit > 0 else { return }
        change { state in
            state.bytes = ByteBuffer()
            state.end = .failed(ChannelError.inputClosed)
        }
    }

    func end() { change { $0.end = $0.end ?? .complete } }

    /// Ends a body whose rest will not arrive.
    func fail(_ error: any Error) { change { $0.end = $0.end ?? .failed(error) } }

    private func change(_ body: (inout State) -> Void) {
        let (reader, outcome) = state.withLock { state in
            body(&state)
            let outcome = state.outcome
            let reader = outcome == nil ? nil : state.reader
            if reader != nil { state.reader = nil }
            return (reader, outcome)
        }
        if let reader, let outcome { reader.resume(with: outcome) }
    }

    // MARK: The call's side

    /// Returns the whole body once it has arrived. It has one reader.
    ///
    /// - Throws: `NIOTooManyBytesError` where it is longer than the limit, or the connection's error.
    func collect() async throws -> ByteBuffer {
        wanted()
        return try await withCheckedThrowingContinuation { continuation in
            let outcome = state.withLock { state in
                let outcome = state.outcome
                if outcome == nil { state.reader = continuation }
                return outcome
            }
            if let outcome { continuation.resume(with: outcome) }
        }
    }
}
