import JOSE
import Pipeline
import Preflight
import Signing
import Synchronization
import WorkerConfiguration

/// The effective configuration of a worker, and the next one: the watcher posts it, the loop takes it between two
/// batches.
final class RunningConfiguration: Sendable {
    private struct State: Sendable {
        var current: Configuration
        var provided: Configuration
        /// Grows with each change of `current`.
        var number = 0
        /// The listings of the rings in use, as they were when these were loaded.
        var revisions: [String: FileRevision?]
        var next: Reload?
    }

    /// The configuration that the worker was started with. Keys that need a restart have their effective values here.
    let started: Configuration
    private let state: Mutex<State>

    /// - Parameter revisions: the listings of the rings as they were when the rings were loaded.
    init(_ configuration: Configuration, revisions: [String: FileRevision?]) {
        started = configuration
        state = Mutex(State(current: configuration, provided: configuration, revisions: revisions))
    }

    var current: Configuration { state.withLock { $0.current } }

    /// The newest configuration whose keys the signer has: at a reload, the former one until the new rings are loaded.
    var provided: Configuration { state.withLock { $0.provided } }

    /// Notes that the signer has the keys of `configuration`.
    func provide(_ configuration: Configuration) { state.withLock { $0.provided = configuration } }

    var numbered: (configuration: Configuration, number: Int) { state.withLock { ($0.current, $0.number) } }

    var rings: KeyRingWatcher.Watched {
        state.withLock { KeyRingWatcher.Watched($0.current.watchedRings, revisions: $0.revisions) }
    }

    /// Posts `reload` for the loop, in place of one that the loop has not taken yet. With nil, the loop changes
    /// nothing.
    ///
    /// - Parameter number: the number of the configuration that was compared.
    /// - Returns: False if the effective configuration has changed since.
    func post(_ reload: Reload?, to number: Int) -> Bool {
        state.withLock { state in
            guard state.number == number else { return false }
            state.next = reload
            return true
        }
    }

    /// Makes the posted reload effective and returns it; nil if nothing was posted.
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
