public import Spans
import Synchronization

/// Spans on their way to an exporter. The queue is bounded: ending a span never waits, and spans that do not fit are
/// counted and dropped.
public final class SpanQueue: SpanPort {
    private struct State {
        var spans: [EndedSpan] = []
        var dropped = 0
    }

    private let capacity: Int
    private let state = Mutex(State())

    /// - Parameter capacity: the largest number of waiting spans.
    public init(capacity: Int = 8192) { self.capacity = max(1, capacity) }

    public var count: Int { state.withLock { $0.spans.count } }

    /// Returns the context of a new span below `parent`, or of a new trace.
    public func context(below parent: TraceContext?) -> TraceContext {
        var random = SystemRandomNumberGenerator()
        return parent?.child(using: &random) ?? .root(using: &random)
    }

    /// Keeps `span` until it is sent. Drops it if the queue is full.
    public func ended(_ span: EndedSpan) {
        state.withLock { state in
            guard state.spans.count < capacity else {
                state.dropped += 1
                return
            }
            state.spans.append(span)
        }
    }

    /// Removes and returns the first spans, up to `limit` of them.
    public func take(_ limit: Int) -> [EndedSpan] {
        state.withLock { state in
            let taken = Array(state.spans.prefix(limit))
            state.spans.removeFirst(taken.count)
            return taken
        }
    }

    public func takeDropped() -> Int {
        state.withLock { state in
            defer { state.dropped = 0 }
            return state.dropped
        }
    }
}
