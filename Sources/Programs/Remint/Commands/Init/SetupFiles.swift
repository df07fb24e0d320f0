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
    /// - Throws: `KeyRingError`; no file of it is left then, and none that was there is replaced.
    func write(_ text: String, backend: SecretBytes?) throws(KeyRingError) {
        try KeyRingDirectory(path: folder).makeFolder()
        try DurableWrite(path: configuration, mode: 0o644, .new).write(SecretBytes(copying: text.utf8))
        guard let backend else { return }
        do throws(KeyRingError) { try KeyFile.write(backend, to: backendKey, .new) } catch {
            try? FileManager.default.removeItem(atPath: configuration)
            throw error
        }
    }

    /// Requires that the configuration can be replaced, and that its owner and its group stay then.
    ///
    /// - Throws: `SetupRefused`.
    func requireReplaceable() throws(SetupRefused) {
        var status = stat()
        guard stat(configuration, &status) == 0, geteuid() != 0 else { return }
        guard status.st_uid == geteuid(), groups.contains(status.st_gid) else {
            throw belongsToAnother
        }
        guard access(folder, W_OK) == 0 else {
            throw SetupRefused(description: "\(folder) cannot be written; run the command as its owner or as root")
        }
    }

    /// The groups of this process.
    private var groups: Set<gid_t> {
        var list = [gid_t](repeating: 0, count: max(0, Int(getgroups(0, nil))))
        let count = getgroups(Int32(clamping: list.count), &list)
        return Set(list.prefix(max(0, Int(count)))).union([getegid()])
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
            throw belongsToAnother
        }
    }

    private var belongsToAnother: SetupRefused {
        SetupRefused(
            description: "\(configuration) belongs to another account; run the command as its owner or as root")
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
