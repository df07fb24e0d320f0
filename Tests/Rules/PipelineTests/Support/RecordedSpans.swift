import Spans
import Synchronization

/// A span port for tests: ids are the same on every run, and every span is kept.
final class RecordedSpans: SpanPort {
    private struct State {
        var random = SeededGenerator(seed: 11)
        var contexts = 0
        var spans: [EndedSpan] = []
    }

    private let state = Mutex(State())

    /// The number of ids requested.
    var contexts: Int { state.withLock { $0.contexts } }
    var all: [EndedSpan] { state.withLock { $0.spans } }

    func named(_ name: String) -> [EndedSpan] { all.filter { $0.name == name } }

    func context(below parent: TraceContext?) -> TraceContext {
        state.withLock { state in
            state.contexts += 1
            return parent?.child(using: &state.random) ?? .root(using: &state.random)
        }
    }

    func ended(_ span: EndedSpan) { state.withLock { $0.spans.append(span) } }
}
