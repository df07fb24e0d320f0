import Glibc
public import JOSE

/// Changes a key ring on disk, for one operator at a time.
///
/// It holds the ring's lock (`keyring.lock`, an advisory `flock` that ends with the process) for its lifetime. Keys are
/// written before the listing that names them, never over an existing file, and every file whole or not at all: readers
/// see either the old ring or the new one. Each change is in the audit log before it begins.
public struct KeyRingEditor: ~Copyable {
    /// The ring.
    public let directory: KeyRingDirectory
    /// The current listing.
    public private(set) var listing: KeyRingListing
    private let lock: FileLock
    let disk: Disk
    private let now: @Sendable () -> UnixTime

    /// Takes the ring's lock and reads its listing; a folder without one is an empty ring.
    ///
    /// - Throws: `KeyRingError`, also where another operator holds the lock, and where other accounts can write to the
    ///   folder.
    public init(_ directory: KeyRingDirectory) throws(KeyRingError) {
        try self.init(directory, now: { KeyRingEditor.systemTime() })
    }

    /// Takes the ring's lock and reads its listing; the audit log's intents have the time of `now`.
    ///
    /// - Throws: `KeyRingError`, as without a clock.
    package init(_ directory: KeyRingDirectory, now: @escaping @Sendable () -> UnixTime) throws(KeyRingError) {
        try self.init(directory, directory.disk, now: now)
    }

    init(
        _ directory: KeyRingDirectory, _ disk: Disk, now: @escaping @Sendable () -> UnixTime
    ) throws(KeyRingError) {
        try directory.requireOwnFolder()
        for file in [directory.listing, directory.campaign] { try DurableWrite.requireNoLink(file) }
        let lock = try Self.takeLock("\(directory.path)/keyring.lock", disk, at: now())
        try ScratchFile.removeAbandoned(in: directory.path, disk)
        listing =
            KeyFile.exists(directory.listing)
            ? try directory.readListing() : KeyRingListing(file: directory.listing)
        listing.neighbors = ScratchFile.names(in: directory.path)
        listing.formerIDs = AuditLog(directory, disk).removedVersions()
        self.lock = lock
        self.directory = directory
        self.disk = disk
        self.now = now
    }

    /// Adds `key` as the version `id`: prepared, or active where it is the ring's first.
    ///
    /// - Parameters:
    ///   - keyID: The `kid`, if it differs from the id.
    ///   - encoding: The encoding of the file of a shared secret; nil for base64url. It has no effect on key pairs.
    ///   - time: The current time.
    ///   - action: The action that the audit log names.
    /// - Throws: `KeyRingError`, also for a key that a version of the ring holds already: a token must name the one version that
    ///   signed it, and a revoked key must not come back under another id.
    public mutating func add(
        _ key: SigningKey, id: String, keyID: String? = nil, encoding: SecretEncoding? = nil, at time: UnixTime,
        retireAfter: UnixTime? = nil, as action: String = "add"
    ) throws(KeyRingError) {
        if let holder = try directory.version(holding: key.verificationKey) { throw repeated(holder) }
        let (suffix, text, encoding) = try Self.text(of: key, id: id, encoding: encoding, in: directory)
        let file = listing.freshFile(id, suffix)
        var listing = listing
        try listing.add(
            ListedVersion(
                id: id, keyID: keyID, algorithm: key.algorithm, file: file, encoding: encoding, created: time,
                retireAfter: retireAfter))
        listing.neighbors.insert(file)
        try record(listing, as: action, key: (DurableWrite(path: directory.file(file), mode: 0o600, .new, disk), text))
    }

    /// The keys that must be usable before another version is made to sign.
    package enum NeededKeys: Sendable {
        /// All that sign or verify: workers that cannot load one of them go on with the version before.
        case all
        /// The one that is to sign: the version before was revoked, and stops whatever else is wrong, or its key is the damaged one.
        case signer
    }

    /// Carries out `transition`, and writes the listing where it changed.
    ///
    /// - Returns: The result of `transition`: whether anything changed.
    /// - Throws: `KeyRingError`; the ring is as it was then. Another version is made to sign only where the workers can load every
    ///   key of the ring: else they would go on with the version before.
    @discardableResult
    public mutating func change(
        _ transition: (inout KeyRingListing) throws(KeyRingError) -> Bool
    ) throws(KeyRingError) -> Bool { try change(needing: .all, transition) }

    /// Carries out `transition`, where the keys of `needed` are usable if another version is made to sign.
    ///
    /// - Returns: The result of `transition`: whether anything changed.
    /// - Throws: `KeyRingError`; the ring is as it was then.
    @discardableResult
    package mutating func change(
        needing needed: NeededKeys,
        _ transition: (inout KeyRingListing) throws(KeyRingError) -> Bool
    ) throws(KeyRingError) -> Bool {
        var listing = listing
        guard try transition(&listing) else { return false }
        if let signer = listing.active?.id, signer != self.listing.active?.id {
            let revived = directory.revivedVersions(in: self.listing, ended: AuditLog(directory).endedVersions())
            if let ended = revived.first(where: { $0.id == signer }) {
                throw KeyRingError(directory.listing, "\(ended.description). It cannot sign")
            }
            // The private key of a revived version may be deleted, and this change is a step to its end.
            let all = Set(listing.versions.filter(\.state.verifies).map(\.id)).subtracting(revived.map(\.id))
            try directory.requireKeys(of: needed == .all ? all : [signer])
        }
        let retired = Set(self.listing.versions.filter { $0.state == .retired }.map(\.id))
        try record(listing)
        for version in listing.versions where version.state == .retired && !retired.contains(version.id) {
            // The transition is done whether this succeeds or not. The caller reports a key that stays: `retiredFile(of:)`.
            do throws(KeyRingError) { try deletePrivateKey(of: version.id) } catch {
                if error.isInterruption { throw error }
            }
        }
        return true
    }

    /// Takes the version `id` out of the ring and deletes its files. They are deleted first: a crash in between leaves a
    /// version without a key, and the same command completes the change.
    ///
    /// - Returns: The files of the version that are outside the ring's folder, links, or used by other versions; these stay.
    /// - Throws: `KeyRingError`, also for a version in use.
    package mutating func remove(_ id: String) throws(KeyRingError) -> [String] {
        var new = listing
        try new.remove(id)
        let (own, others) = directory.files(of: try listing.version(id), in: listing)
        let audit = AuditLog(directory, disk)
        let change = ListingChange(from: listing, to: new)
        try audit.intend(change.action, version: change.version, detail: change.detail, at: now())
        do throws(KeyRingError) {
            for path in own {
                guard try disk.run(.remove, on: path, { unlink(path) }) == 0 else {
                    throw KeyRingError(path, failed: "deleted")
                }
            }
            guard try disk.sync(folder: directory.path) else {
                throw KeyRingError(directory.path, failed: "brought to disk")
            }
            new.formerIDs.insert(id)
            try save(new)
        } catch {
            if !error.isInterruption, (try? directory.readListing())?.versions != new.versions {
                audit.note(failed: change.action, version: change.version, at: now())
            }
            throw error
        }
        return others
    }

    /// Logs the intent, writes the key of a new version, and then the listing.
    private mutating func record(
        _ new: KeyRingListing, as action: String? = nil, key: (file: DurableWrite, text: SecretBytes)? = nil
    ) throws(KeyRingError) {
        let audit = AuditLog(directory, disk)
        let change = ListingChange(from: listing, to: new)
        let action = action ?? change.action
        try audit.intend(action, version: change.version, detail: change.detail, at: now())
        do throws(KeyRingError) {
            if let key { try key.file.write(key.text) }
            try save(new)
        } catch {
            // The listing may be in place although its folder could not be brought to disk.
            if !error.isInterruption, (try? directory.readListing())?.versions != new.versions {
                audit.note(failed: action, version: change.version, at: now())
            }
            throw error
        }
    }

    /// The time by the clock of the intents: a result's line is no older than its intent's.
    package var time: UnixTime { now() }

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
        // Accounts that may read the listing today may read the new one too.
        var status = stat()
        let mode = stat(directory.listing, &status) == 0 ? (status.st_mode & 0o644) | 0o600 : 0o600
        let write = DurableWrite(path: directory.listing, mode: mode, .replacing, disk)
        try write.write(SecretBytes(copying: new.json))
        listing = new
    }

    private static func takeLock(
        _ path: String, _ disk: Disk, at now: UnixTime
    ) throws(KeyRingError) -> FileLock {
        guard try disk.run(.create, on: path, { 0 }) == 0 else { throw KeyRingError(path, failed: "opened") }
        do throws(FileLock.Failure) { return try FileLock(path, holder: LockHolder.line(since: now)) } catch {
            switch error {
            case .held:
                let holder = FileLock.holder(of: path).map { ": \($0)" } ?? ""
                throw KeyRingError(
                    path, "another operator is changing this key ring\(holder); try again when that is done")
            case .unusable(let reason):
                throw KeyRingError(
                    path, "cannot be opened: \(reason); the folder and the file must exist and be yours to change")
            }
        }
    }

    private static func systemTime() -> UnixTime {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return UnixTime(microseconds: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000)
    }

    /// Returns a key in the form of its file.
    private static func text(
        of key: SigningKey, id: String, encoding: SecretEncoding?, in directory: KeyRingDirectory
    ) throws(KeyRingError) -> (suffix: String, text: SecretBytes, encoding: SecretEncoding?) {
        if let secret = key.secret {
            let encoding = encoding ?? .base64url
            let text = encoding.encode(secret)
            guard let read = try? encoding.decode(text), read.equals(secret) else {
                throw KeyRingError(
                    directory.file("\(id).secret"),
                    "the secret cannot be written as \(encoding.rawValue); use hex, base64 or base64url")
            }
            return (".secret", text, encoding)
        }
        do throws(JOSEError) {
            if let pem = try key.privateKeyPEM() { return (".pem", pem, nil) }
        } catch { throw KeyRingError(directory.path, error.message) }
        throw KeyRingError(directory.path, "the key has no PEM form")
    }
}
