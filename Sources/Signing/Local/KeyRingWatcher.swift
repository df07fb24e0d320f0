public import JOSE
public import Keyring
public import Logging
import Pipeline
import Telemetry
public import WorkerConfiguration

/// Watches the key rings' listings and hands what changed to the signer.
///
/// A ring that cannot be used is said, once per change, and the keys before it go on signing.
public struct KeyRingWatcher: Sendable {
    private let configuration: Configuration
    private let signer: LocalSigner
    private let problems: KeyProblems
    private let logger: Logger
    private let changed: @Sendable (KeyRing) -> Void

    /// A watcher of the rings of `configuration` that are read from folders.
    ///
    /// - Parameters:
    ///   - signer: signs with what changed.
    ///   - problems: told of what keeps a ring from being used.
    ///   - changed: told of every ring that changed and can be used.
    public init(
        configuration: Configuration, signer: LocalSigner, problems: @escaping KeyProblems, logger: Logger,
        changed: @escaping @Sendable (KeyRing) -> Void = { _ in }
    ) {
        self.configuration = configuration
        self.signer = signer
        self.problems = problems
        self.logger = logger
        self.changed = changed
    }

    private var folders: [(key: Configuration.Key, directory: KeyRingDirectory)] {
        configuration.keys.compactMap { key in key.path.map { (key, KeyRingDirectory(path: $0)) } }
    }

    /// The listings' revisions, in the order of the configuration.
    public var revisions: [FileRevision?] { folders.map(\.directory.revision) }

    /// Looks once a second, until the task is cancelled. A ring that cannot be used is tried again each time, for what is
    /// wrong may be with a key's file.
    ///
    /// - Parameter revisions: the listings' as they were when the rings were loaded; by default as they are now.
    public func run(since revisions: [FileRevision?]? = nil) async {
        let folders = folders
        var seen = revisions ?? self.revisions
        var problems: [String: String] = [:]
        while !Task.isCancelled {
            try? await Task.sleep(for: .seconds(1))
            for (index, (key, directory)) in folders.enumerated() {
                let revision = directory.revision
                guard revision != seen[index] || problems[key.name] != nil else { continue }
                seen[index] = revision
                let problem = await load(key, directory)
                if let problem, problem != problems[key.name] { say(problem, of: key) }
                problems[key.name] = problem
                self.problems(problem, key.name)
            }
        }
    }

    /// - Returns: what is wrong with it; nil where it signs now.
    private func load(_ key: Configuration.Key, _ directory: KeyRingDirectory) async -> String? {
        let ring: KeyRing
        do throws(KeyRingError) { ring = try directory.load(name: key.name) } catch { return refused(key, "\(error)") }
        let errors = configuration.apps.filter { $0.key == key.name }.flatMap { $0.misfits(of: ring) }
            .filter { $0.severity == .error }
        if let error = errors.first { return refused(key, error.message) }
        await signer.replace(ring)
        changed(ring)
        logger.notice(
            "a key ring changed",
            metadata: [
                LogKey.keyRing: "\(key.name)",
                LogKey.keyVersion: "\(signer.activeKey(of: key.name)?.version ?? "none")",
            ])
        return nil
    }

    private func refused(_ key: Configuration.Key, _ problem: String) -> String {
        "the key ring \(key.name) cannot be used: \(problem)"
    }

    private func say(_ problem: String, of key: Configuration.Key) {
        logger.error(
            "a key ring changed and cannot be used; its keys of before go on signing",
            metadata: [LogKey.keyRing: "\(key.name)", LogKey.detail: "\(problem)"])
    }
}
