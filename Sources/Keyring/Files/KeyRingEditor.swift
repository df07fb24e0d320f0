import Glibc
public import JOSE

/// Changes a key ring on disk, one operator at a time.
///
/// It holds the ring's lock (`keyring.lock`, an advisory `flock` that ends with the process) from its making to its end. Keys
/// are written before the listing that names them, and every file whole or not at all, so that whoever reads meanwhile sees
/// the old ring or the new one.
public struct KeyRingEditor: ~Copyable {
    /// The ring.
    public let directory: KeyRingDirectory
    /// What it lists now.
    public private(set) var listing: KeyRingListing
    private let lock: FileLock
    private let proceed: DurableWrite.Proceed

    /// Takes the ring's lock and reads its listing; a folder without one is an empty ring.
    ///
    /// - Throws: `KeyRingError`, also where another operator holds the lock.
    public init(_ directory: KeyRingDirectory) throws(KeyRingError) {
        try self.init(directory, proceed: { _ in true })
    }

    init(_ directory: KeyRingDirectory, proceed: @escaping DurableWrite.Proceed) throws(KeyRingError) {
        let lock = try Self.takeLock("\(directory.path)/keyring.lock")
        listing =
            KeyFile.exists(directory.listing)
            ? try directory.readListing() : KeyRingListing(file: directory.listing)
        self.lock = lock
        self.directory = directory
        self.proceed = proceed
        removeScraps()
    }

    /// Adds `key` as the version `id`: prepared, or active where it is the ring's first.
    ///
    /// - Parameters:
    ///   - keyID: `kid`, where it is not the id.
    ///   - encoding: how the file of a shared secret is written; base64url where nil. Of no use for key pairs.
    ///   - time: now.
    /// - Throws: `KeyRingError`, also for a key that a version of the ring holds already: a token must name the one version that
    ///   signed it, and a revoked key must not come back under another id.
    public mutating func add(
        _ key: SigningKey, id: String, keyID: String? = nil, encoding: SecretEncoding? = nil, at time: UnixTime,
        retireAfter: UnixTime? = nil
    ) throws(KeyRingError) {
        if let holder = try directory.version(holding: key.verificationKey) { throw repeated(holder) }
        let (file, text, encoding) = try Self.text(of: key, id: id, encoding: encoding, in: directory)
        var listing = listing
        try listing.add(
            ListedVersion(
                id: id, keyID: keyID, algorithm: key.algorithm, file: file, encoding: encoding, created: time,
                retireAfter: retireAfter))
        try write(text, to: "\(directory.path)/\(file)", mode: 0o600)
        try save(listing)
    }

    /// Carries out `transition` and writes the listing where it changed.
    ///
    /// - Returns: what `transition` returns: whether anything changed.
    /// - Throws: `KeyRingError`; the ring is as it was then.
    @discardableResult
    public mutating func change(
        _ transition: (inout KeyRingListing) throws(KeyRingError) -> Bool
    ) throws(KeyRingError) -> Bool {
        var listing = listing
        guard try transition(&listing) else { return false }
        try save(listing)
        return true
    }

    private func repeated(_ holder: ListedVersion) -> KeyRingError {
        let remedy =
            switch holder.state {
            case .prepared, .passive: "use that version, or import another key"
            case .active: "that version signs already"
            case .retired, .revoked: "generate or import another key"
            }
        return KeyRingError(
            directory.listing,
            "holds this key already, as the version \"\(holder.id)\", which is \(holder.state.rawValue); \(remedy)")
    }

    private mutating func save(_ new: KeyRingListing) throws(KeyRingError) {
        // Whoever may read the listing today may read it tomorrow.
        var status = stat()
        let mode = stat(directory.listing, &status) == 0 ? (status.st_mode & 0o644) | 0o600 : 0o600
        try write(SecretBytes(copying: new.json), to: directory.listing, mode: mode)
        listing = new
    }

    private func write(_ contents: SecretBytes, to path: String, mode: mode_t) throws(KeyRingError) {
        try DurableWrite(path: path, mode: mode, proceed: proceed).write(contents)
    }

    /// What a crash left half written.
    private func removeScraps() {
        guard let folder = opendir(directory.path) else { return }
        defer { closedir(folder) }
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name.hasSuffix(DurableWrite.scratchSuffix) { unlink("\(directory.path)/\(name)") }
        }
    }

    private static func takeLock(_ path: String) throws(KeyRingError) -> FileLock {
        do throws(FileLock.Failure) { return try FileLock(path) } catch {
            switch error {
            case .held:
                throw KeyRingError(path, "another operator is changing this key ring; try again when that is done")
            case .unusable(let reason):
                throw KeyRingError(path, "cannot be opened: \(reason); the folder must be there and yours to change")
            }
        }
    }

    /// A key as its file holds it.
    private static func text(
        of key: SigningKey, id: String, encoding: SecretEncoding?, in directory: KeyRingDirectory
    ) throws(KeyRingError) -> (file: String, text: SecretBytes, encoding: SecretEncoding?) {
        if let secret = key.secret {
            let file = "\(id).secret"
            let encoding = encoding ?? .base64url
            let text = encoding.encode(secret)
            guard let read = try? encoding.decode(text), read.equals(secret) else {
                throw KeyRingError(
                    "\(directory.path)/\(file)",
                    "the secret cannot be written as \(encoding.rawValue); use hex, base64 or base64url")
            }
            return (file, text, encoding)
        }
        do throws(JOSEError) {
            if let pem = try key.privateKeyPEM() { return ("\(id).pem", pem, nil) }
        } catch { throw KeyRingError(directory.path, error.message) }
        throw KeyRingError(directory.path, "the key has no PEM form")
    }
}
