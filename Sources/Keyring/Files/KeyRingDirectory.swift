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

    /// The ring in the folder `path`.
    public init(path: String) { self.path = path }

    /// The file that lists the versions.
    public var listing: String { "\(path)/keyring.json" }

    /// What tells one state of the listing from another, without reading it: its inode, size and time of change.
    public struct Revision: Sendable, Equatable {
        let inode: UInt64
        let size: Int64
        let seconds: Int
        let nanoseconds: Int
    }

    /// The listing's revision; nil where there is none.
    public var revision: Revision? {
        var status = stat()
        guard stat(listing, &status) == 0 else { return nil }
        return Revision(
            inode: UInt64(status.st_ino), size: Int64(status.st_size), seconds: status.st_mtim.tv_sec,
            nanoseconds: status.st_mtim.tv_nsec)
    }

    /// Reads the ring and every key that may still be used.
    ///
    /// - Throws: `KeyRingError` for the first thing that is wrong.
    public func load(name: String) throws(KeyRingError) -> KeyRing {
        let root = try parse()
        for (name, value) in root.members where name != "versions" {
            throw KeyRingError(listing, at: value, "unknown member \"\(name)\"; known: versions")
        }
        guard let list = root["versions"], list.isArray else {
            throw KeyRingError(listing, at: root, "must hold an array \"versions\"")
        }
        var versions: [KeyVersion] = []
        for entry in list.elements {
            let version = try KeyRingEntry(entry, in: self).load()
            guard !versions.contains(where: { $0.id == version.id }) else {
                throw KeyRingError(listing, at: entry, "two versions share the id \"\(version.id)\"; give each its own")
            }
            versions.append(version)
        }
        let active = versions.count { $0.state == .active }
        guard active == 1 else {
            throw KeyRingError(listing, at: list, "has \(active) active versions; exactly one must be active")
        }
        return KeyRing(name: name, versions: versions)
    }

    /// Makes a new ring in the folder, with one active version.
    ///
    /// - Parameter secretEncoding: how the file of a shared secret is written; of no use for key pairs.
    /// - Throws: `KeyRingError`, also where there is a ring already: its keys would be lost.
    public func create(_ key: SigningKey, id: String, secretEncoding: SecretEncoding?, at time: UnixTime)
        throws(KeyRingError)
    {
        guard !id.isEmpty, !id.contains("/"), id != "keyring" else {
            throw KeyRingError(listing, "the id of a version names its file: it must not be empty or hold a slash")
        }
        guard !KeyFile.exists(listing) else {
            throw KeyRingError(listing, "exists already, and its keys would be lost; choose another folder")
        }
        var json = JSONWriter()
        json.beginObject()
        json.name("versions")
        json.beginArray()
        json.beginObject()
        json.member("id", id)
        json.member("state", KeyVersion.State.active.rawValue)
        json.member("algorithm", key.algorithm.rawValue)
        if let secret = key.secret {
            let encoding = secretEncoding ?? .base64url
            json.member("file", "\(id).secret")
            json.member("encoding", encoding.rawValue)
            let text = encoding.encode(secret)
            guard let read = try? encoding.decode(text), read.equals(secret) else {
                throw KeyRingError(
                    "\(path)/\(id).secret",
                    "the secret cannot be written as \(encoding.rawValue); use hex, base64 or base64url")
            }
            try KeyFile.write(text, to: "\(path)/\(id).secret")
        } else {
            json.member("file", "\(id).pem")
            try KeyFile.write(pem(of: key), to: "\(path)/\(id).pem")
        }
        json.member("created", time.description)
        json.member("activated", time.description)
        json.endObject()
        json.endArray()
        json.endObject()
        try KeyFile.write(SecretBytes(copying: json.bytes), to: listing)
    }

    private func pem(of key: SigningKey) throws(KeyRingError) -> SecretBytes {
        do throws(JOSEError) {
            if let pem = try key.privateKeyPEM() { return pem }
        } catch { throw KeyRingError(path, error.message) }
        throw KeyRingError(path, "the key has no PEM form")
    }

    private func parse() throws(KeyRingError) -> JSONValue {
        let text = try KeyFile.readListing(listing)
        do throws(JSONError) { return try JSONDocument(parsing: text).root } catch {
            throw KeyRingError(listing, at: error.offset, in: text, "\(error)")
        }
    }
}
