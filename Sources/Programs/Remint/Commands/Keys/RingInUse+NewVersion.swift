import AdapterKit
import JOSE
import Keyring
import Operations
import WorkerConfiguration

extension RingInUse {
    /// Adds `key` to the ring and prints the operator's next steps.
    ///
    /// - Throws: `KeyRingError`.
    func add(_ key: SigningKey, id: String?, _ options: NewVersionOptions, action: String) throws {
        let now = UnixTime.system()
        try directory.makeFolder()
        try requireUncompromised(key.verificationKey)
        let others = holders(of: key.verificationKey).filter { $0.ring != ring.name }
        var editor = try editor()
        let id = id ?? editor.listing.freshID(at: now)
        try editor.add(
            key, id: id, keyID: options.kid, encoding: encoding(asked: options.encoding), at: now,
            retireAfter: try options.end(from: now), as: action)
        try audit.append(action, version: id, detail: key.algorithm.rawValue, at: UnixTime.system())
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
        options.json ? try printJSON(version, key) : try tell(version, key, isImported: action == "import")
    }

    private func tell(_ version: ListedVersion, _ key: SigningKey, isImported: Bool) throws {
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
        if isImported, key.algorithm.keyType != .secret {
            Terminal.print("Compare this public key with the one that \(vendor) has.")
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
        Terminal.print(String(decoding: json.bytes, as: UTF8.self))
    }

    func printSteps(_ title: String, _ steps: [String]) {
        guard !steps.isEmpty else { return }
        Terminal.print(title)
        for (number, step) in steps.enumerated() { Terminal.print("  \(number + 1). \(step)") }
    }
}
