import JOSE
import Pipeline
import Signing
import Synchronization
import WorkerConfiguration

/// What a worker goes by at the moment, and what it is to go by next: the watcher posts, the loop takes between two batches.
final class RunningConfiguration: Sendable {
    private struct State: Sendable {
        var current: Configuration
        /// Grows with each change of `current`.
        var number = 0
        /// The listings of the rings in use, as they were when these were loaded.
        var revisions: [String: FileRevision?]
        var next: Reload?
    }

    /// What the worker was started with. Whatever needs a restart is as it is here.
    let started: Configuration
    private let state: Mutex<State>

    /// - Parameter revisions: the listings of the rings as they were when the rings were loaded.
    init(_ configuration: Configuration, revisions: [String: FileRevision?]) {
        started = configuration
        state = Mutex(State(current: configuration, revisions: revisions))
    }

    /// What the worker goes by.
    var current: Configuration { state.withLock { $0.current } }

    /// The same, with the number by which a change of it is known.
    var numbered: (configuration: Configuration, number: Int) { state.withLock { ($0.current, $0.number) } }

    /// The rings in use.
    var rings: KeyRingWatcher.Watched {
        state.withLock { KeyRingWatcher.Watched($0.current, revisions: $0.revisions) }
    }

    /// Has the loop go on by `reload`, in place of what it has not taken yet; by nothing where it is nil.
    ///
    /// - Parameter number: the number of the configuration that was compared.
    /// - Returns: false where the worker goes by another one since.
    func post(_ reload: Reload?, to number: Int) -> Bool {
        state.withLock { state in
            guard state.number == number else { return false }
            state.next = reload
            return true
        }
    }

    /// What the loop goes on by, from this call on; nil for what it goes by already.
    func take() -> Reload? {
        state.withLock { state in
            guard let next = state.next else { return nil }
            state.next = nil
            state.current = next.plan.configuration
            state.number += 1
            let paths = Set(state.current.keys.compactMap(\.path))
            state.revisions = state.revisions.merging(next.revisions) { $1 }.filter { paths.contains($0.key) }
            return next
        }
    }
}
