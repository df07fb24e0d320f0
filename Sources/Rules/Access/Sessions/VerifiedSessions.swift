import JOSE
import Synchronization

/// Sessions that were verified a moment ago, so that a device which asks often costs one signature check a while; and
/// those verified earlier, which are thereby distinct from sessions that nobody has seen yet.
///
/// Of a session its fingerprint is kept, never the token; of one verified earlier, the fingerprint and the end alone.
final class VerifiedSessions: Sendable {
    /// The lifetime of an entry, in seconds.
    static let life: Int64 = 30

    private struct Entry {
        let session: Session
        let until: UnixTime
    }

    /// Two generations, of which the older is forgotten when they take turns.
    private struct Generations<Value> {
        var younger: [Fingerprint: Value] = [:]
        var older: [Fingerprint: Value] = [:]

        var count: Int { younger.count + older.count }

        subscript(name: Fingerprint) -> Value? { younger[name] ?? older[name] }

        mutating func insert(_ value: Value, as name: Fingerprint, within capacity: Int) {
            if younger.count >= capacity { takeTurns() }
            younger[name] = value
        }

        mutating func remove(_ name: Fingerprint) {
            younger[name] = nil
            older[name] = nil
        }

        mutating func takeTurns() { (younger, older) = ([:], younger) }

        mutating func keep(_ isKept: (Value) -> Bool) {
            younger = younger.filter { isKept($0.value) }
            older = older.filter { isKept($0.value) }
        }
    }

    private struct State {
        var recent = Generations<Entry>()
        var ends = Generations<UnixTime>()
        var swept = UnixTime(seconds: 0)
    }

    private let capacity: Int
    private let state = Mutex(State())

    /// Remembers about `capacity` sessions, and a fifth of them whole.
    init(capacity: Int = 50_000) { self.capacity = capacity }

    /// The number of sessions that are remembered, whole or by their fingerprints.
    var count: Int { state.withLock { $0.recent.count + $0.ends.count } }

    /// Returns the session `name`, if it was verified and has not expired since.
    func session(_ name: Fingerprint, at now: UnixTime) -> Session? {
        state.withLock { state in
            guard let entry = state.recent[name] else { return nil }
            // A clock that was set back must not make an entry live longer.
            let left = entry.until.microseconds(since: now)
            return (1...Self.life * 1_000_000).contains(left) ? entry.session : nil
        }
    }

    /// Returns whether the session `name` was verified, recently or earlier, and has not expired.
    func isKnown(_ name: Fingerprint, at now: UnixTime) -> Bool {
        state.withLock { state in state.ends[name].map { now < $0 } ?? false }
    }

    /// Removes the session called `name`, which was refused since.
    func forget(_ name: Fingerprint) {
        state.withLock { state in
            state.recent.remove(name)
            state.ends.remove(name)
        }
    }

    func found(_ session: Session, as name: Fingerprint, at now: UnixTime) {
        let until = min(session.expiry, now.advanced(bySeconds: Self.life))
        state.withLock { state in
            state.recent.insert(Entry(session: session, until: until), as: name, within: max(1, capacity / 5))
            state.ends.insert(session.expiry, as: name, within: capacity)
        }
    }

    /// Forgets what counts no more at `now`, twice in a lifetime of an entry.
    func sweep(at now: UnixTime) {
        state.withLock { state in
            guard now.microseconds(since: state.swept).magnitude >= UInt64(Self.life * 500_000) else { return }
            state.swept = now
            state.recent.keep { now < $0.until }
            state.ends.keep { now < $0 }
        }
    }
}
