import Foundation
import JOSE
import Keyring
import Operations

/// The files that `remint init` writes into a folder.
struct SetupFiles {
    let folder: String

    /// The configuration.
    var configuration: String { path("remint.yaml") }
    /// The gateway's API key, for a backend and for curl.
    var backendKey: String { path("backend.key") }

    /// Whether the folder has a configuration already.
    var hasConfiguration: Bool { KeyFile.exists(configuration) }

    /// Requires that no file would be replaced.
    ///
    /// - Throws: `SetupRefused`.
    func requireNone(beside ring: KeyRingDirectory) throws(SetupRefused) {
        for path in [configuration, backendKey, ring.listing] where KeyFile.exists(path) {
            throw SetupRefused(description: "\(path) exists already; name another folder: remint init --dir FOLDER")
        }
    }

    /// Writes the configuration and the API key `backend`, and makes the folder.
    ///
    /// - Throws: `KeyRingError`; no file is left then.
    func write(_ text: String, backend: SecretBytes?) throws(KeyRingError) {
        try KeyRingDirectory(path: folder).makeFolder()
        do throws(KeyRingError) {
            try DurableWrite(path: configuration, mode: 0o644).write(SecretBytes(copying: text.utf8))
            if let backend { try KeyFile.write(backend, to: backendKey) }
        } catch {
            remove()
            throw error
        }
    }

    /// Writes `text` in place of the configuration `known`. Mode, owner and group stay.
    ///
    /// - Throws: `SetupRefused` if the configuration was changed meanwhile, or its owner cannot stay. `KeyRingError` if it cannot
    ///   be written.
    func replaceConfiguration(_ known: String, by text: String) throws {
        let attributes = try FileManager.default.attributesOfItem(atPath: configuration)
        guard try String(contentsOfFile: configuration, encoding: .utf8) == known else {
            throw SetupRefused(description: "\(configuration) was changed meanwhile; run the command again")
        }
        let mode = (attributes[.posixPermissions] as? NSNumber)?.uint32Value ?? 0o600
        try DurableWrite(path: configuration, mode: mode).write(SecretBytes(copying: text.utf8))
        let owners = attributes.filter { [.ownerAccountID, .groupOwnerAccountID].contains($0.key) }
        do { try FileManager.default.setAttributes(owners, ofItemAtPath: configuration) } catch {
            try DurableWrite(path: configuration, mode: mode).write(SecretBytes(copying: known.utf8))
            throw SetupRefused(
                description: "\(configuration) belongs to another account; run the command as its owner or as root")
        }
    }

    /// Removes the written files.
    func remove() {
        for path in [configuration, backendKey] { try? FileManager.default.removeItem(atPath: path) }
    }

    private func path(_ name: String) -> String {
        guard folder != "." else { return name }
        return folder.hasSuffix("/") ? folder + name : "\(folder)/\(name)"
    }
}

/// The reason that `remint init` writes nothing.
struct SetupRefused: Error, CustomStringConvertible {
    let description: String
}
