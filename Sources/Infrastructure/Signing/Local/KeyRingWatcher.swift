public import JOSE
public import Keyring
public import Logging
import Pipeline
import Telemetry

/// Watches the key rings' listings and gives changed rings to the signer.
///
/// A ring that cannot be used is reported, once per change, and its previous keys continue to sign. But a version that
/// the listing revoked or retired stops at once, whatever else is wrong. The set of rings may change while they are
/// watched.
public struct KeyRingWatcher: Sendable {
    /// The rings that are watched at a moment.
    public struct Watched: Sendable {
        /// The rings.
        public var rings: [WatchedRing]
        /// The folders' listings as they were when the rings in use were loaded; a folder that is not named has not changed when
        /// it is first looked at.
        public var revisions: [String: FileRevision?]

        /// The rings `rings`, which were loaded when their listings were `revisions`.
        public init(_ rings: [WatchedRing], revisions: [String: FileRevision?] = [:]) {
            self.rings = rings
            self.revisions = revisions
        }
    }

    /// A ring as it was last seen.
    private struct Seen {
        let path: String
        var revision: FileRevision?
        /// The problem that keeps the ring from being used.
        var problem: Problem?
    }

    /// The reason that a ring cannot be used.
    private struct Problem: Equatable {
        let text: String
        /// Whether a key of it signs all the same.
        let isSigning: Bool
    }

    private let watched: @Sendable () -> Watched
    private let signer: LocalSigner
    private let problems: KeyProblems
    private let logger: Logger
    private let changed: @Sendable (KeyRing) -> Void

    /// A watcher of the rings that `watched` returns at each check.
    ///
    /// - Parameters:
    ///   - signer: the signer that gets changed rings.
    ///   - problems: called with the problems that keep a ring from being used.
    ///   - changed: called with every ring that changed and can be used.
    public init(
        _ watched: @escaping @Sendable () -> Watched, signer: LocalSigner, problems: @escaping KeyProblems,
        logger: Logger, changed: @escaping @Sendable (KeyRing) -> Void = { _ in }
    ) {
        self.watched = watched
        self.signer = signer
        self.problems = problems
        self.logger = logger
        self.changed = changed
    }

    /// A watcher of `rings` as they are now.
    public init(
        rings: [WatchedRing], signer: LocalSigner, problems: @escaping KeyProblems, logger: Logger,
        changed: @escaping @Sendable (KeyRing) -> Void = { _ in }
    ) {
        let watched = Watched(rings, revisions: Self.revisions(of: rings))
        self.init({ watched }, signer: signer, problems: problems, logger: logger, changed: changed)
    }

    /// Returns the present revisions of the listings of `rings`, by their folders.
    public static func revisions(of rings: [WatchedRing]) -> [String: FileRevision?] {
        Dictionary(rings.map { ($0.path, $0.directory.revision) }) { first, _ in first }
    }

    /// Checks the rings once a second, until the task is canceled. A ring that cannot be used is tried again each time,
    /// because the problem may be a key's file.
    public func run() async {
        var seen: [String: Seen] = [:]
        look(at: watched(), &seen)
        while !Task.isCancelled {
            try? await Task.sleep(for: .seconds(1))
            let watched = watched()
            look(at: watched, &seen)
            for ring in watched.rings {
                guard let last = seen[ring.name] else { continue }
                let revision = ring.directory.revision
                guard revision != last.revision || last.problem != nil else { continue }
                let problem = await load(ring)
                if let problem, problem != last.problem { say(problem, of: ring) }
                seen[ring.name]?.revision = revision
                seen[ring.name]?.problem = problem
                problems(problem?.text, ring.name)
                await undo(ring, &seen)
            }
        }
    }

    /// Forgets rings that are watched no more, or elsewhere, and begins with those that are new.
    private func look(at watched: Watched, _ seen: inout [String: Seen]) {
        let paths = Dictionary(watched.rings.map { ($0.name, $0.path) }) { first, _ in first }
        for (name, last) in seen where paths[name] != last.path {
            seen[name] = nil
            if last.problem != nil { problems(nil, name) }
        }
        for (name, path) in paths where seen[name] == nil {
            seen[name] = Seen(path: path, revision: watched.revisions[path] ?? KeyRingDirectory(path: path).revision)
        }
    }

    /// Undoes the loading of a ring that is watched no more, or elsewhere, since.
    private func undo(_ ring: WatchedRing, _ seen: inout [String: Seen]) async {
        let now = watched().rings.first { $0.name == ring.name }
        guard now?.path != ring.path else { return }
        seen[ring.name] = nil
        problems(nil, ring.name)
        guard let elsewhere = now?.path else { return await signer.remove(ring.name) }
        // Looked at a second later, and loaded whatever its revision.
        seen[ring.name] = Seen(path: elsewhere, revision: nil)
    }

    /// - Returns: the problem with the ring; nil where it signs now.
    private func load(_ watched: WatchedRing) async -> Problem? {
        let ring: KeyRing
        do throws(KeyRingError) { ring = try watched.directory.load(name: watched.name) } catch {
            return await refused(watched, "\(error)")
        }
        let errors = watched.uses.flatMap { $0.misfits(of: ring) }.filter(\.isError)
        if let error = errors.first { return await refused(watched, error.message) }
        await use(ring)
        return nil
    }

    private func use(_ ring: KeyRing) async {
        await signer.replace(ring)
        changed(ring)
        logger.notice(
            "key-ring.changed", "a key ring changed",
            metadata: [
                LogKey.keyRing: "\(ring.name)",
                LogKey.keyVersion: "\(signer.activeKey(of: ring.name)?.version ?? "none")",
            ])
    }

    /// Stops the signing of versions that the listing revoked or retired, although the ring cannot be used. The usable
    /// part of the ring replaces the previous one.
    private func refused(_ watched: WatchedRing, _ reason: String) async -> Problem {
        let text = "the key ring \(watched.name) cannot be used: \(reason)"
        // Without a listing nothing shows that a version is of no further use.
        if let part = try? watched.directory.loadUsable(name: watched.name) {
            let active = signer.activeKey(of: watched.name)
            if let active, !part.ended.contains(active.version) {
                await signer.forget(part.ended, of: watched.name)
            } else {
                let usable = part.ring.keeping { version in
                    watched.uses.allSatisfy { $0.algorithm == version.algorithm }
                }
                if active != nil || usable.active != nil { await use(usable) }
            }
        }
        guard signer.activeKey(of: watched.name) == nil else { return Problem(text: text, isSigning: true) }
        return Problem(
            text: "\(text); no version of it signs, and the events of its apps wait as key_unavailable",
            isSigning: false)
    }

    private func say(_ problem: Problem, of ring: WatchedRing) {
        let details: Logger.Metadata = [LogKey.keyRing: "\(ring.name)", LogKey.detail: "\(problem.text)"]
        if problem.isSigning {
            logger.error(
                "key-ring.refused", "a key ring changed and cannot be used; its keys of before go on signing",
                metadata: details)
        } else {
            logger.error(
                "key-ring.disabled", "a key ring changed and cannot be used; none of its keys signs", metadata: details)
        }
    }
}
