import AdapterKit
public import JOSE
public import Keyring
public import Logging
import Pipeline
import Telemetry
public import WorkerConfiguration

/// Watches the key rings' listings and gives changed rings to the signer.
///
/// A ring that cannot be used is reported, once per change, and its previous keys continue to sign. But a version that
/// the listing revoked or retired stops at once, whatever else is wrong. The set of rings may change while they are
/// watched.
public struct KeyRingWatcher: Sendable {
    /// The rings that are watched at a moment.
    public struct Watched: Sendable {
        /// The rings, and the apps that they must fit.
        public var configuration: Configuration
        /// The folders' listings as they were when the rings in use were loaded; a folder that is not named has not changed when
        /// it is first looked at.
        public var revisions: [String: FileRevision?]

        /// The rings of `configuration`.
        public init(_ configuration: Configuration, revisions: [String: FileRevision?] = [:]) {
            self.configuration = configuration
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

    /// A watcher of the rings that `watched` returns at each check, as far as they are read from folders.
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

    /// A watcher of the rings of `configuration` as they are now.
    public init(
        configuration: Configuration, signer: LocalSigner, problems: @escaping KeyProblems, logger: Logger,
        changed: @escaping @Sendable (KeyRing) -> Void = { _ in }
    ) {
        let watched = Watched(configuration, revisions: Self.revisions(of: configuration))
        self.init({ watched }, signer: signer, problems: problems, logger: logger, changed: changed)
    }

    /// The listings' revisions at this moment, by their folders.
    public static func revisions(of configuration: Configuration) -> [String: FileRevision?] {
        let paths = configuration.keys.compactMap(\.path)
        return Dictionary(paths.map { ($0, KeyRingDirectory(path: $0).revision) }) { first, _ in first }
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
            for key in watched.configuration.keys {
                guard let path = key.path, let last = seen[key.name] else { continue }
                let directory = KeyRingDirectory(path: path)
                let revision = directory.revision
                guard revision != last.revision || last.problem != nil else { continue }
                let problem = await load(key, directory, watched.configuration)
                if let problem, problem != last.problem { say(problem, of: key) }
                seen[key.name]?.revision = revision
                seen[key.name]?.problem = problem
                problems(problem?.text, key.name)
                await undo(key, path, &seen)
            }
        }
    }

    /// Forgets rings that are watched no more, or elsewhere, and begins with those that are new.
    private func look(at watched: Watched, _ seen: inout [String: Seen]) {
        let paths = Dictionary(watched.configuration.keys.map { ($0.name, $0.path) }) { first, _ in first }
        for (name, last) in seen where paths[name] != last.path {
            seen[name] = nil
            if last.problem != nil { problems(nil, name) }
        }
        for case (let name, let path?) in paths where seen[name] == nil {
            seen[name] = Seen(path: path, revision: watched.revisions[path] ?? KeyRingDirectory(path: path).revision)
        }
    }

    /// Undoes the loading of a ring that the configuration dropped, or whose folder it moved, meanwhile.
    private func undo(_ key: Configuration.Key, _ path: String, _ seen: inout [String: Seen]) async {
        let now = watched().configuration.keys.first { $0.name == key.name }
        guard now?.path != path else { return }
        seen[key.name] = nil
        problems(nil, key.name)
        guard let elsewhere = now?.path else { return await signer.remove(key.name) }
        // Looked at a second later, and loaded whatever its revision.
        seen[key.name] = Seen(path: elsewhere, revision: nil)
    }

    /// - Returns: the problem with the ring; nil where it signs now.
    private func load(
        _ key: Configuration.Key, _ directory: KeyRingDirectory, _ configuration: Configuration
    ) async -> Problem? {
        let apps = configuration.apps.filter { $0.key == key.name }
        let ring: KeyRing
        do throws(KeyRingError) { ring = try directory.load(name: key.name) } catch {
            return await refused(key, directory, apps, "\(error)")
        }
        let errors = apps.flatMap { $0.misfits(of: ring) }.filter { $0.severity == .error }
        if let error = errors.first { return await refused(key, directory, apps, error.message) }
        await use(ring, of: key)
        return nil
    }

    private func use(_ ring: KeyRing, of key: Configuration.Key) async {
        await signer.replace(ring)
        changed(ring)
        logger.notice(
            "a key ring changed",
            metadata: [
                LogKey.keyRing: "\(key.name)",
                LogKey.keyVersion: "\(signer.activeKey(of: key.name)?.version ?? "none")",
            ])
    }

    /// Stops the signing of versions that the listing revoked or retired, although the ring cannot be used. The usable
    /// part of the ring replaces the previous one.
    private func refused(
        _ key: Configuration.Key, _ directory: KeyRingDirectory, _ apps: [Configuration.App], _ reason: String
    ) async -> Problem {
        let text = "the key ring \(key.name) cannot be used: \(reason)"
        // Without a listing nobody has said that a version is of no further use.
        if let part = try? directory.loadUsable(name: key.name) {
            let active = signer.activeKey(of: key.name)
            if let active, !part.ended.contains(active.version) {
                await signer.forget(part.ended, of: key.name)
            } else {
                let usable = part.ring.keeping { version in
                    apps.allSatisfy { $0.adapter.algorithm == version.algorithm }
                }
                if active != nil || usable.active != nil { await use(usable, of: key) }
            }
        }
        guard signer.activeKey(of: key.name) == nil else { return Problem(text: text, isSigning: true) }
        return Problem(
            text: "\(text); no version of it signs, and the events of its apps wait as key_unavailable",
            isSigning: false)
    }

    private func say(_ problem: Problem, of key: Configuration.Key) {
        logger.error(
            problem.isSigning
                ? "a key ring changed and cannot be used; its keys of before go on signing"
                : "a key ring changed and cannot be used; none of its keys signs",
            metadata: [LogKey.keyRing: "\(key.name)", LogKey.detail: "\(problem.text)"])
    }
}
