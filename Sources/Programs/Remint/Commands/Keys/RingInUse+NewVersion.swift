import AdapterKit
import ArgumentParser
import JOSE
import Keyring
import Operations
import WorkerConfiguration

extension RingInUse {
    /// The way in which a key came into the ring, as the log of the ring's changes names it.
    enum KeyOrigin: String {
        case generated = "generate"
        case imported = "import"
    }

    /// A version that was added to a ring.
    struct AddedKey {
        fileprivate let version: ListedVersion
        fileprivate let key: SigningKey
        fileprivate let origin: KeyOrigin
        fileprivate let isJSON: Bool
    }

    /// Adds `key` to the ring and prints the operator's next steps.
    ///
    /// - Throws: `KeyRingError`; `ValidationError` for an imported key whose id at the vendor is unknown.
    func add(_ key: SigningKey, _ options: NewVersionOptions, as origin: KeyOrigin) throws {
        try tell(try store(key, options, as: origin))
    }

    /// Adds `key` to the ring.
    ///
    /// - Throws: as `add`.
    func store(_ key: SigningKey, _ options: NewVersionOptions, as origin: KeyOrigin) throws -> AddedKey {
        let now = CommandContext.current.now()
        let given = options.id ?? (options.kid == nil ? key.keyID : nil)
        try requireKnownKeyID(origin, isGiven: given != nil || options.kid != nil)
        try directory.makeFolder()
        try requireUncompromised(key.verificationKey)
        let others = holders(of: key.verificationKey).filter { $0.ring != ring.name }
        var editor = try editor()
        let id = given ?? editor.listing.freshID(at: now)
        try editor.add(
            key, id: id, keyID: options.kid, encoding: encoding(asked: options.encoding), at: now,
            retireAfter: try options.end(from: now), as: origin.rawValue)
        try audit.append(origin.rawValue, version: id, detail: key.algorithm.rawValue, at: CommandContext.current.now())
        let version = try editor.listing.version(id)
        for other in others {
            Terminal.error(
                "remint: warning: the key is also that of \(other): where one of the two leaks, revoke both; better is one ring for the apps of both"
            )
        }
        if key.isShorterThanDigest {
            Terminal.error(
                "remint: warning: the secret is shorter than its digest, \(key.algorithm.digestBytes.of("byte")) (RFC 7518, section 3.2)"
            )
        }
        return AddedKey(version: version, key: key, origin: origin, isJSON: options.json)
    }

    /// Prints the version, and the operator's next steps.
    func tell(_ added: AddedKey) throws {
        added.isJSON
            ? try printJSON(added.version, added.key) : try tell(added.version, added.key, added.origin)
    }

    /// Requires the vendor's own id of an imported key, where the vendor's tokens name their key: with any other id the vendor
    /// refuses them all.
    private func requireKnownKeyID(_ origin: KeyOrigin, isGiven: Bool) throws(ValidationError) {
        guard origin == .imported, !isGiven,
            let app = apps.first(where: { $0.adapter.recipe(for: Subject(user: "")).needsKeyID })
        else { return }
        throw ValidationError(
            "the tokens of the app \(app.name) name their key; give the key's id at \(app.adapter.vendor): --kid ID")
    }

    private func tell(_ version: ListedVersion, _ key: SigningKey, _ origin: KeyOrigin) throws {
        let use = version.state == .active ? " and signs from now on" : ""
        Terminal.print(
            "\(ring.name): the version \(version.id) (\(version.algorithm.rawValue)) is \(version.state.rawValue)\(use)"
        )
        if let pem = try key.verificationKey.publicKeyPEM() {
            Terminal.print("\n" + pem)
        } else {
            Terminal.print(
                "its secret is in \(directory.path)/\(version.file), as the vendor's dashboard writes it")
        }
        guard let handover else { return }
        let vendor = apps[0].adapter.vendor
        let isImported = origin == .imported
        if isImported, key.algorithm.keyType != .secret {
            Terminal.print("Compare this public key with the one that \(vendor) has.")
        }
        // The steps lead from a vendor's new key to its import. The key that the ring begins with is no new one.
        if isImported, handover.origin == .vendor, version.state == .active {
            Terminal.print("\(vendor) made this key; nothing is left to do there.")
            return
        }
        printSteps(title(version.state, at: vendor, isImported: isImported), handover.beforePromotion)
        if version.state == .prepared {
            Terminal.print(
                "Then: \(RemintCommand("keys promote", version.id)), or a whole campaign: \(RemintCommand("rotate prepare", "--key-version", version.id))"
            )
        }
    }

    /// Returns the title of the steps at `vendor`. A ring's first version signs at once, and the vendor may have an imported
    /// key already.
    private func title(_ state: KeyVersion.State, at vendor: String, isImported: Bool) -> String {
        switch (state == .active, isImported) {
        case (true, false): "Until these steps at \(vendor) are done, \(vendor) refuses its tokens:"
        case (true, true): "At \(vendor), unless it is done already:"
        case (false, false): "At \(vendor), before it may sign:"
        case (false, true): "At \(vendor), before it may sign, unless it is done already:"
        }
    }

    private func printJSON(_ version: ListedVersion, _ key: SigningKey) throws {
        var json = JSONWriter()
        json.beginObject()
        json.member("key_ring", ring.name)
        json.member("version", version.id)
        json.member("state", version.state.rawValue)
        json.member("algorithm", version.algorithm.rawValue)
        json.member("file", version.file)
        if let pem = try key.verificationKey.publicKeyPEM() { json.member("public_key_pem", pem) }
        json.name("vendor_steps")
        json.beginArray()
        for step in handover?.beforePromotion ?? [] { json.string(step) }
        json.endArray()
        json.endObject()
        Terminal.print(json.printable)
    }

    func printSteps(_ title: String, _ steps: [String]) {
        guard !steps.isEmpty else { return }
        Terminal.print(title)
        for (number, step) in steps.enumerated() { Terminal.print("  \(number + 1). \(step)") }
    }
}

extension RingInUse {
    /// Returns a new key of `algorithm` for the ring, after a warning where its vendor makes the keys itself.
    func newKey(_ algorithm: Algorithm, _ version: NewVersionOptions, rsaBits: Int) throws -> SigningKey {
        if handover?.origin == .vendor {
            Terminal.error(
                "remint: warning: \(apps[0].adapter.vendor) makes its keys itself; see: \(RemintCommand("keys import", "--help"))"
            )
        }
        return try KeyGeneration.key(
            algorithm, encoding: encoding(asked: version.encoding), rsaBits: rsaBits, id: version.id)
    }
}
