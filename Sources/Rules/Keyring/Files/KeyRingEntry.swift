import JOSE

/// An element of `versions`, before its key is read.
struct KeyRingEntry {
    private let entry: JSONValue
    let directory: KeyRingDirectory

    init(_ entry: JSONValue, in directory: KeyRingDirectory) throws(KeyRingError) {
        self.entry = entry
        self.directory = directory
        guard entry.isObject else { throw KeyRingError(directory.listing, at: entry, "a version must be an object") }
        for (name, value) in entry.members where !Self.members.contains(name) {
            throw KeyRingError(
                directory.listing, at: value,
                "unknown member \"\(name)\"; known: \(Self.members.joined(separator: ", "))")
        }
    }

    private static let members = [
        "id", "kid", "state", "algorithm", "file", "encoding", "passphrase_file", "created", "activated",
        "retire_after",
    ]

    /// Returns the entry as the listing has it.
    func listed() throws(KeyRingError) -> ListedVersion {
        let id = try text("id")
        guard !id.isEmpty else { throw error("id", "is empty") }
        guard let state = KeyVersion.State(rawValue: try text("state")) else {
            throw error("state", "is none of \(KeyVersion.State.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        guard let algorithm = Algorithm(named: try text("algorithm")) else {
            throw error("algorithm", "is none of \(Algorithm.allCases.flatMap(\.names).joined(separator: ", "))")
        }
        let keyID = try optionalText("kid")
        guard keyID?.isEmpty != true else { throw error("kid", "is empty; leave it out where the id is the kid") }
        let encoding = entry["encoding"]?.string.flatMap(SecretEncoding.init(rawValue:))
        if algorithm.keyType == .secret, state.verifies, encoding == nil { throw encodingMissing }
        return ListedVersion(
            id: id, keyID: keyID, state: state, algorithm: algorithm,
            file: state.verifies ? try text("file") : try optionalText("file") ?? "",
            encoding: encoding,
            passphraseFile: try optionalText("passphrase_file"), created: try time("created"),
            activated: try time("activated"), retireAfter: try time("retire_after"))
    }

    /// Returns the entry with its key, where the key may still be used.
    func load() throws(KeyRingError) -> KeyVersion {
        let listed = try listed()
        let key = listed.state.verifies ? try loadKey(listed) : nil
        // Nothing depends on it: a retired version's file may be gone, or be anything by now.
        let retired = listed.state == .retired && !listed.file.isEmpty ? publicPart(listed, from: .secret) : nil
        return KeyVersion(
            id: listed.id, state: listed.state, algorithm: listed.algorithm, secretEncoding: listed.encoding,
            retireAfter: listed.retireAfter, signingKey: key, retiredKey: retired)
    }

    /// Refuses a version whose key cannot be used: this process cannot read it, it does not fit the algorithm, or it belongs to an
    /// account other than the folder's, which the worker runs under.
    func requireKey() throws(KeyRingError) {
        let listed = try listed()
        _ = try loadKey(listed)
        let path = directory.file(listed.file)
        if let reason = FolderOwner.stranger(path, in: directory.path) { throw error("file", "\(path) \(reason)") }
    }

    /// Returns the key in the version's file, in any state of the version, and even where other accounts can read the
    /// file: the key signs nothing then, but it may be the leaked one. nil where the file is gone or holds no key.
    func storedKey() -> VerificationKey? {
        guard let listed = try? listed(), !listed.file.isEmpty else { return nil }
        return publicPart(listed, from: .instructions)
    }

    /// Returns the key that verifies: of the private key in the file, or of the public key that replaced it.
    private func publicPart(_ listed: ListedVersion, from content: GuardedFile.Content) -> VerificationKey? {
        if let key = try? loadKey(listed, from: content) { return key.verificationKey }
        guard let text = try? file("file", listed.file, content) else { return nil }
        return publicKey(text, listed)
    }

    private func publicKey(_ text: SecretBytes, _ listed: ListedVersion) -> VerificationKey? {
        // No copy of a private key, such as one whose passphrase is missing, may stay in the heap.
        guard listed.algorithm.keyType != .secret, text.withBytes({ $0.starts(with: "-----BEGIN PUBLIC KEY".utf8) })
        else { return nil }
        let text = text.withBytes { String(decoding: $0, as: UTF8.self) }
        return try? VerificationKey(
            publicKeyPEM: text, algorithm: listed.algorithm, keyID: listed.keyID ?? listed.id)
    }

    func loadKey(
        _ listed: ListedVersion, from content: GuardedFile.Content = .secret
    ) throws(KeyRingError) -> SigningKey {
        let algorithm = listed.algorithm, keyID = listed.keyID ?? listed.id
        let contents = try file("file", listed.file, content)
        let passphrase: SecretBytes? =
            if let name = try optionalText("passphrase_file") {
                try file("passphrase_file", name, content).trimmingLineEnd()
            } else { nil }
        do throws(JOSEError) {
            if let encoding = listed.encoding, algorithm.keyType == .secret {
                return try SigningKey(secret: try encoding.decode(contents), algorithm: algorithm, keyID: keyID)
            }
            return try SigningKey(pem: contents, passphrase: passphrase, algorithm: algorithm, keyID: keyID)
        } catch {
            guard publicKey(contents, listed) == nil else {
                throw self.error(
                    "file",
                    "\(directory.file(listed.file)) holds the public key alone: its private key was deleted when the version was retired. Put the newer keyring.json back, or make another version sign and retire this one"
                )
            }
            throw self.error("file", error.message)
        }
    }

    /// A shared secret's encoding is stated, never guessed.
    private var encodingMissing: KeyRingError {
        let known = SecretEncoding.allCases.map(\.rawValue).joined(separator: ", ")
        return error("file", "a shared secret needs its \"encoding\", one of \(known)")
    }

    private func file(
        _ member: String, _ name: String, _ content: GuardedFile.Content
    ) throws(KeyRingError) -> SecretBytes {
        // If somebody put the key itself here, no log may contain it.
        guard !name.contains(where: \.isNewline), !name.hasPrefix("-----BEGIN") else {
            throw error(member, "must name a file; it holds a key. Write the key to a file of mode 600")
        }
        let path = directory.file(name)
        do throws(KeyRingError) { return try KeyFile.read(path, content) } catch {
            throw self.error(member, "\(error.file) \(error.message)")
        }
    }

    // MARK: Members

    private func text(_ name: String) throws(KeyRingError) -> String {
        guard let text = try optionalText(name) else {
            throw KeyRingError(directory.listing, at: entry, "a version lacks \"\(name)\"")
        }
        return text
    }

    private func optionalText(_ name: String) throws(KeyRingError) -> String? {
        guard let value = entry[name], !value.isNull else { return nil }
        guard let text = value.string else { throw error(name, "is not a string") }
        return text
    }

    private func time(_ name: String) throws(KeyRingError) -> UnixTime? {
        guard let text = try optionalText(name) else { return nil }
        guard let time = RFC3339.parse(text) else {
            throw error(name, "is not an RFC 3339 date-time such as 2026-11-01T00:00:00Z")
        }
        return time
    }

    private func error(_ member: String, _ message: String) -> KeyRingError {
        KeyRingError(directory.listing, at: entry[member] ?? entry, "\"\(member)\": \(message)")
    }
}
