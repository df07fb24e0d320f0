import Glibc
public import JOSE

/// A key ring on disk: `keyring.json` and the key files beside it.
///
/// ```json
/// {"versions": [{"id": "2026-11", "state": "active", "algorithm": "RS256", "file": "2026-11.pem"}]}
/// ```
/// A version of a shared secret also states its `encoding` (utf8, hex, base64, base64url); an encrypted PEM its
/// `passphrase_file`. `created`, `activated` and `retire_after` are RFC 3339 date-times. Where the vendor keeps one `kid`
/// over several secrets, `kid` states it; otherwise the version's id is the `kid`.
public struct KeyRingDirectory: Sendable {
    /// The folder.
    public let path: String
    /// The disk that the folder is on.
    package let disk: Disk

    /// The ring in the folder `path`.
    public init(path: String) { self.init(path: path, on: .real) }

    /// The ring in the folder `path` on `disk`.
    package init(path: String, on disk: Disk) {
        self.path = path
        self.disk = disk
    }

    /// The file that lists the versions.
    public var listing: String { "\(path)/keyring.json" }

    /// The file of the ring's campaign.
    var campaign: String { "\(path)/rotation.json" }

    /// Returns the file with the progress of the campaign `id`.
    package func checkpoint(of id: String) -> String { "\(path)/rotation-\(id).json" }

    /// The listing's revision; nil where there is none.
    public var revision: FileRevision? { FileRevision(of: listing) }

    /// Reads the ring and every key that may still be used.
    ///
    /// - Throws: `KeyRingError` for the first thing that is wrong.
    public func load(name: String) throws(KeyRingError) -> KeyRing {
        var versions: [KeyVersion] = []
        _ = try readListing { entry throws(KeyRingError) in versions.append(try entry.load()) }
        return KeyRing(name: name, versions: versions)
    }

    /// Reads the usable part of a ring.
    ///
    /// - Returns: the ring without the versions whose keys cannot be read, and the versions that are retired or revoked.
    /// - Throws: `KeyRingError` for a listing that cannot be read.
    package func loadUsable(name: String) throws(KeyRingError) -> (ring: KeyRing, ended: Set<String>) {
        var versions: [KeyVersion] = []
        let listing = try readListing { entry throws(KeyRingError) in
            if let version = try? entry.load() { versions.append(version) }
        }
        let ended = listing.versions.filter { !$0.state.verifies }.map(\.id)
        return (KeyRing(name: name, versions: versions), Set(ended))
    }

    /// Refuses a ring in which the folder's account cannot use the key of one of the versions `ids`.
    ///
    /// - Throws: `KeyRingError` with the fix.
    package func requireKeys(of ids: Set<String>) throws(KeyRingError) {
        _ = try readListing { entry throws(KeyRingError) in
            if ids.contains(try entry.listed().id) { try entry.requireKey() }
        }
    }

    /// Reads the listing alone.
    ///
    /// - Throws: `KeyRingError` for the first thing that is wrong.
    public func readListing() throws(KeyRingError) -> KeyRingListing { try readListing { _ in } }

    /// Returns the version that holds `key`, under any id and in any state; nil where there is none.
    ///
    /// Secrets are compared in a time that depends on their lengths alone.
    ///
    /// - Throws: `KeyRingError` for a listing that cannot be read.
    func version(holding key: VerificationKey) throws(KeyRingError) -> ListedVersion? {
        guard KeyFile.exists(listing) else { return nil }
        return try storedKeys().first { $0.key.hasSameMaterial(as: key) }?.version
    }

    /// Returns the versions among `ids` whose keys the folder's account cannot use, each with the reason and its
    /// remedy.
    package func damagedKeys(of ids: Set<String>) -> [KeyRingError] {
        ids.sorted().compactMap { id in
            do throws(KeyRingError) {
                try requireKeys(of: [id])
                return nil
            } catch { return error }
        }
    }

    /// Returns the state of the key file of the version `id`.
    ///
    /// - Throws: `KeyRingError` for a listing that cannot be read.
    package func retiredFile(of id: String) throws(KeyRingError) -> RetiredKeyFile {
        var file = RetiredKeyFile.clear
        _ = try readListing { entry throws(KeyRingError) in
            if try entry.listed().id == id { file = try entry.retiredFile() }
        }
        return file
    }

    /// Returns the keys in the files of all versions, of any state, that can be read.
    ///
    /// - Throws: `KeyRingError` for a listing that cannot be read.
    package func storedKeys() throws(KeyRingError) -> [(version: ListedVersion, key: VerificationKey)] {
        var stored: [(version: ListedVersion, key: VerificationKey)] = []
        _ = try readListing { entry throws(KeyRingError) in
            if let key = entry.storedKey() { stored.append((try entry.listed(), key)) }
        }
        return stored
    }

    private func readListing(
        _ each: (KeyRingEntry) throws(KeyRingError) -> Void
    ) throws(KeyRingError) -> KeyRingListing {
        try requireOwnFolder()
        let root = try parse()
        for (name, value) in root.members where name != "versions" {
            throw KeyRingError(listing, at: value, "unknown member \"\(name)\"; known: versions")
        }
        guard let list = root["versions"], list.isArray else {
            throw KeyRingError(listing, at: root, "must hold an array \"versions\"")
        }
        var versions: [ListedVersion] = []
        for element in list.elements {
            let entry = try KeyRingEntry(element, in: self)
            let version = try entry.listed()
            guard !versions.contains(where: { $0.id == version.id }) else {
                throw KeyRingError(
                    listing, at: element, "two versions share the id \"\(version.id)\"; give each its own")
            }
            try requireOwnFile(version, element, versions)
            versions.append(version)
            try each(entry)
        }
        let active = versions.count { $0.state == .active }
        // A leaked key stops signing at once, whether another one is there or not.
        guard active == 1 || active == 0 && versions.contains(where: { $0.state == .revoked }) else {
            throw KeyRingError(
                listing, at: list, "has \(active.of("active version")); write \"state\": \"active\" in exactly one")
        }
        return KeyRingListing(file: listing, versions: versions)
    }

    /// Makes the folder, and the folders it is in, for its owner alone, if it does not exist.
    ///
    /// - Throws: `KeyRingError`.
    package func makeFolder() throws(KeyRingError) {
        var parts = path.split(separator: "/", omittingEmptySubsequences: true).map(String.init)
        var made = path.hasPrefix("/") ? "" : "."
        while !parts.isEmpty {
            let parent = made.isEmpty ? "/" : made
            made += "/" + parts.removeFirst()
            guard mkdir(made, 0o700) == 0 else {
                if errno == EEXIST || KeyFile.exists(made) { continue }
                throw KeyRingError(path, failed: "created")
            }
            let folder = open(made, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
            defer { if folder >= 0 { close(folder) } }
            guard folder >= 0, FolderOwner.adopt(folder: folder, in: parent), try disk.sync(folder: parent) else {
                throw KeyRingError(path, failed: "given its owner")
            }
        }
    }

    /// Refuses a folder whose files others could replace.
    ///
    /// - Throws: `KeyRingError` with the command that fixes it.
    func requireOwnFolder() throws(KeyRingError) {
        if let exposure = FolderAccess(path)?.exposure(of: path) ?? FolderAccess.exposure(onTheWayTo: path) {
            throw KeyRingError(path, exposure)
        }
    }

    /// Returns the path of the file that a version names.
    func file(_ name: String) -> String { name.hasPrefix("/") ? name : "\(path)/\(name)" }

    /// Refuses a version that names the file of another one: the change of one key would destroy the other.
    private func requireOwnFile(
        _ version: ListedVersion, _ element: JSONValue, _ others: [ListedVersion]
    ) throws(KeyRingError) {
        guard !version.file.isEmpty else { return }
        let path = file(version.file)
        let identity = FileIdentity(at: path)
        let other = others.first { other in
            guard !other.file.isEmpty else { return false }
            return file(other.file) == path || identity.map { FileIdentity(at: file(other.file)) == $0 } ?? false
        }
        guard let other else { return }
        throw KeyRingError(
            listing, at: element["file"] ?? element,
            "\"file\": is the file of the version \"\(other.id)\" too; give each version a file of its own")
    }

    /// Makes a new ring in the folder, with one active version.
    ///
    /// - Parameter secretEncoding: The encoding of the file of a shared secret. It has no effect on key pairs.
    /// - Throws: `KeyRingError`, also where there is a ring already: its keys would be lost.
    public func create(_ key: SigningKey, id: String, secretEncoding: SecretEncoding?, at time: UnixTime)
        throws(KeyRingError)
    {
        guard !KeyFile.exists(listing) else {
            throw KeyRingError(listing, "exists already, and its keys would be lost; choose another folder")
        }
        var editor = try KeyRingEditor(self)
        try editor.add(key, id: id, encoding: secretEncoding, at: time, as: "create")
        try AuditLog(self).append("create", version: id, detail: key.algorithm.rawValue, at: editor.time)
    }

    private func parse() throws(KeyRingError) -> JSONValue {
        let text = try KeyFile.readListing(listing)
        do throws(JSONError) { return try JSONDocument(parsing: text).root } catch {
            throw KeyRingError(listing, at: error.offset, in: text, "\(error)")
        }
    }
}
