import ArgumentParser
import Foundation
import Keyring
import Operations
import Vendors
import WorkerConfiguration

/// Adding an app to the configuration of the folder.
extension InitCommand {
    /// A configuration that an app is added to.
    struct Existing {
        let text: String
        let configuration: Configuration
    }

    /// Returns the configuration of the folder; nil if it has none.
    ///
    /// - Throws: `ExitCode` 1 for a wrong configuration, after its mistakes. `ValidationError` for options that belong to
    ///   a new one. `KeyRingError` for a symbolic link.
    func existing() throws -> Existing? {
        guard files.hasConfiguration else { return nil }
        let path = files.configuration
        try DurableWrite.requireNoLink(path)
        guard brokers == nil, !plaintext, !gateway, !ownEdge else {
            throw ValidationError(
                "\(path) states the brokers and the gateway; omit these options to add an app to it, "
                    + "or name another --dir")
        }
        let (configuration, diagnostics) = ConfigurationReader(registry: .remint, source: .system).read(path)
        guard let configuration, let text = try? String(contentsOfFile: path, encoding: .utf8) else {
            for diagnostic in diagnostics where diagnostic.severity == .error { Terminal.error("\(diagnostic)") }
            Terminal.error(
                "remint: nothing was written; correct \(path), or name another folder: remint init --dir FOLDER")
            throw ExitCode.failure
        }
        return Existing(text: text, configuration: configuration)
    }

    /// Adds the app and its key ring to `existing`. The ring is made first, so that a running worker reads an app whose
    /// key is there.
    func add(_ answers: SetupAnswers, to existing: Existing) throws {
        guard let starter = answers.configuration(isPlaintext: false, backend: nil) else { throw ExitCode.failure }
        try requireFreeNames(starter, in: existing.configuration)
        guard let text = starter.added(to: existing.text) else {
            throw SetupRefused(
                description: "\(files.configuration) has no sections keys and apps with an entry on a line of its own; "
                    + "add the app by hand, then its key: remint keys import")
        }
        let ring = try ring(of: starter, in: text)
        guard !KeyFile.exists(ring.directory.path) else {
            throw SetupRefused(description: "\(ring.directory.path) exists already; name another app: --app NAME")
        }
        try files.requireReplaceable()
        let key = try key(for: ring, answers)
        let added: RingInUse.AddedKey
        do {
            added = try store(key, in: ring, answers)
            try files.replaceConfiguration(existing.text, by: text)
        } catch {
            // The folder did not exist before this call.
            try? FileManager.default.removeItem(atPath: ring.directory.path)
            throw error
        }
        try ring.tell(added)
        guard let adapter = ring.apps.first?.adapter else { return }
        let hasGateway = existing.configuration.pickup != nil && KeyFile.exists(files.backendKey)
        let keyFile = hasGateway ? files.backendKey : nil
        let steps = FirstSteps(adding: starter, adapter: adapter, keyFile: keyFile).steps
        let report = "\(files.configuration) has the app \(starter.app) now, with the key ring \(ring.directory.path)."
        let opening = existing.configuration.pickup == nil ? [] : [FirstSteps.opening(starter)]
        printSteps(["", "\(report) A running worker reads it by itself. Next:"] + Self.lines(of: steps) + opening)
    }

    private func requireFreeNames(_ starter: StarterConfiguration, in configuration: Configuration) throws {
        guard !configuration.apps.contains(where: { $0.name == starter.app }),
            !configuration.keys.contains(where: { $0.name == starter.app })
        else {
            throw SetupRefused(
                description: "\(files.configuration) has an app or a key ring \(starter.app) already; "
                    + "name another app: --app NAME")
        }
    }
}
