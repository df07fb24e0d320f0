import JOSE
import Synchronization

/// Sessions that were found good a moment ago, so that a device which asks often costs one signature check a while; and those
/// found good before, which are told from sessions that nobody has seen yet.
///
/// Of a session its fingerprint is kept, never the token.
final class VerifiedSessions: Sendable {
    /// The lifetime of an entry, in seconds.
    static let life: Int64 = 30
    private let capacity: Int
    private let known = Mutex<(younger: [Fingerprint: Entry], older: [Fingerprint: Entry])>(([:], [:]))

    private struct Entry {
        let session: Session
        let until: UnixTime
    }

    /// Remembers about `capacity` sessions.
    init(capacity: Int = 50_000) { self.capacity = capacity }

    /// Returns the session `name`, if it was verified and has not ended since.
    func session(_ name: Fingerprint, at now: UnixTime) -> Session? {
        known.withLock { known in
            guard let entry = known.younger[name] ?? known.older[name] else { return nil }
            // A clock that was set back must not make an entry live longer.
            let left = entry.until.microseconds(since: now)
            return (1...Self.life * 1_000_000).contains(left) ? entry.session : nil
        }
    }

    /// Returns whether the session `name` was verified, recently or earlier, and has not ended.
    func isKnown(_ name: Fingerprint, at now: UnixTime) -> Bool {
        known.withLock { known in
            (known.younger[name] ?? known.older[name]).map { now < $0.session.expiry } ?? false
        }
    }

    /// Removes the session called `name`, which was refused since.
    func forget(_ name: Fingerprint) {
        known.withLock { known in
            known.younger[name] = nil
            known.older[name] = nil
        }
    }

    /// Records a verified session.
    func found(_ session: Session, as name: Fingerprint, at now: UnixTime) {
        let until = min(session.expiry, now.advanced(bySeconds: Self.life))
        known.withLock { known in
            if known.younger.count >= capacity { known = ([:], known.younger) }
            known.younger[name] = Entry(session: session, until: until)
        }
    }
}
