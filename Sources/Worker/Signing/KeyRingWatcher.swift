import Keyring
import Logging
import Pipeline
import Telemetry
import WorkerConfiguration

/// Watches the key rings' listings and hands what changed to the signer.
///
/// A ring that cannot be used is said, once per change, and the keys before it go on signing.
struct KeyRingWatcher: Sendable {
    let configuration: Configuration
    let signer: LocalSigner
    let status: WorkerStatus
    let logger: Logger

    /// Looks once a second, until the task is cancelled.
    func run() async {
        var seen = configuration.keys.map { KeyRingDirectory(path: $0.path).revision }
        var problems: [String: String] = [:]
        while !Task.isCancelled {
            try? await Task.sleep(for: .seconds(1))
            for (index, key) in configuration.keys.enumerated() {
                let directory = KeyRingDirectory(path: key.path)
                let revision = directory.revision
                guard revision != seen[index] else { continue }
                seen[index] = revision
                problems[key.name] = await load(key, directory)
                status.set(
                    .keys,
                    problems.isEmpty ? nil : problems.sorted { $0.key < $1.key }.map(\.value).joined(separator: "; "))
            }
        }
    }

    /// - Returns: what is wrong with it; nil where it signs now.
    private func load(_ key: Configuration.Key, _ directory: KeyRingDirectory) async -> String? {
        let ring: KeyRing
        do throws(KeyRingError) { ring = try directory.load(name: key.name) } catch { return refused(key, "\(error)") }
        let errors = configuration.apps.filter { $0.key == key.name }.flatMap { Preflight.check($0, ring) }
            .filter { $0.severity == .error }
        if let error = errors.first { return refused(key, error.message) }
        await signer.replace(ring)
        logger.notice(
            "a key ring changed",
            metadata: [
                LogKey.keyRing: "\(key.name)",
                LogKey.keyVersion: "\(signer.activeKey(of: key.name)?.version ?? "none")",
            ])
        return nil
    }

    private func refused(_ key: Configuration.Key, _ problem: String) -> String {
        logger.error(
            "a key ring changed and cannot be used; its keys of before go on signing",
            metadata: [LogKey.keyRing: "\(key.name)", LogKey.detail: "\(problem)"])
        return "the key ring \(key.name) cannot be used: \(problem)"
    }
}
