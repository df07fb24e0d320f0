import AdapterKit
import ArgumentParser
import JOSE
import Keyring
import WorkerConfiguration

/// What a new version is called and how long it may sign.
struct NewVersionOptions: ParsableArguments {
    @Option(help: "The version's id. Default for a generated one: the month, such as 2026-11.") var id: String?
    @Option(help: "The key's id at the vendor, where that is not the version's id.") var kid: String?
    @Option(help: ArgumentHelp("The algorithm. Default: the vendor's.", valueName: "RS256")) var algorithm: Algorithm?
    @Option(help: ArgumentHelp("How the secret's file is written: utf8, hex, base64, base64url.", valueName: "hex"))
    var encoding: SecretEncoding?
    @Option(
        help: ArgumentHelp("No token of it lives longer than this from now, or than this date.", valueName: "365d"))
    var retireAfter: String?
    @Flag(help: "Print the result as JSON.") var json = false

    func end(from now: UnixTime) throws -> UnixTime? {
        guard let text = retireAfter else { return nil }
        if let duration = DurationText.parse(text) { return now.advanced(bySeconds: duration.components.seconds) }
        guard let time = RFC3339.parse(text), time > now else {
            throw ValidationError(
                "--retire-after is a duration such as 365d, or a date-time to come such as 2027-01-01T00:00:00Z")
        }
        return time
    }
}

extension RingInUse {
    /// Adds `key` to the ring and says what is to be done with it.
    ///
    /// - Throws: `KeyRingError`.
    func add(_ key: SigningKey, id: String?, _ options: NewVersionOptions, action: String) throws {
        let now = UnixTime.system()
        var editor = try KeyRingEditor(directory)
        let id = id ?? editor.listing.freshID(at: now)
        try editor.add(
            key, id: id, keyID: options.kid, encoding: encoding(asked: options.encoding), at: now,
            retireAfter: try options.end(from: now))
        try audit.append(action, version: id, detail: key.algorithm.rawValue, at: now)
        let version = try editor.listing.version(id)
        if key.isShorterThanDigest {
            Terminal.error(
                "remint: warning: the secret is shorter than its digest, \(key.algorithm.digestBytes) bytes (RFC 7518, section 3.2)"
            )
        }
        options.json ? try printJSON(version, key) : try tell(version, key)
    }

    private func tell(_ version: ListedVersion, _ key: SigningKey) throws {
        Terminal.print(
            "\(ring.name): the version \(version.id) (\(version.algorithm.rawValue)) is \(version.state.rawValue)")
        if let pem = try key.verificationKey.publicKeyPEM() {
            Terminal.print("\n" + pem)
        } else {
            Terminal.print(
                "its secret stands in \(directory.path)/\(version.file), as the vendor's dashboard writes it")
        }
        guard let handover else { return }
        printSteps("At \(apps[0].adapter.vendor), before it may sign:", handover.beforePromotion)
        if version.state == .prepared {
            Terminal.print("Then: remint keys promote, or a whole campaign: remint rotate")
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

/// Makes keys of the forms vendors hand out.
enum KeyGeneration {
    /// A new key; one whose secret is text is made of letters and digits.
    static func key(_ algorithm: Algorithm, encoding: SecretEncoding?, rsaBits: Int, id: String?) throws -> SigningKey {
        guard algorithm.keyType == .secret, encoding == .utf8 else {
            return try SigningKey.generate(algorithm, rsaBits: rsaBits, keyID: id)
        }
        let text = SecretEncoding.base64url.encode(try SecretBytes.random(count: algorithm.digestBytes))
        return try SigningKey(secret: text, algorithm: algorithm, keyID: id)
    }
}

/// `remint keys generate`.
struct KeysGenerate: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "generate", abstract: "Makes a new version: prepared, or active where it is the ring's first.")

    @OptionGroup var ring: KeyRingOptions
    @OptionGroup var version: NewVersionOptions
    @Option(help: ArgumentHelp("Bits of an RSA key: 2048, 3072 or 4096.", valueName: "2048")) var rsaBits = 2048

    func validate() throws {
        guard [2048, 3072, 4096].contains(rsaBits) else { throw ValidationError("--rsa-bits is 2048, 3072 or 4096") }
    }

    func run() throws {
        let ring = try ring.load()
        let algorithm = try ring.algorithm(asked: version.algorithm)
        if ring.handover?.origin == .vendor {
            Terminal.error(
                "remint: warning: \(ring.apps[0].adapter.vendor) makes its keys itself; see remint keys import")
        }
        let key = try KeyGeneration.key(
            algorithm, encoding: ring.encoding(asked: version.encoding), rsaBits: rsaBits, id: version.id)
        try ring.add(key, id: version.id, version, action: "generate")
    }
}

/// `remint keys import`.
struct KeysImport: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Takes over a key that exists: a PEM, a JWK or a shared secret.",
        discussion: "The file must not be readable by others. A secret's --encoding is stated, never guessed.")

    @OptionGroup var ring: KeyRingOptions
    @OptionGroup var version: NewVersionOptions
    @Option(help: ArgumentHelp("A private key as PEM.", valueName: "file")) var pem: String?
    @Option(help: ArgumentHelp("The passphrase of an encrypted PEM.", valueName: "file")) var passphraseFile: String?
    @Option(help: ArgumentHelp("A private or symmetric JWK.", valueName: "file")) var jwk: String?
    @Option(help: ArgumentHelp("A shared secret in the --encoding.", valueName: "file")) var secret: String?

    func validate() throws {
        guard [pem, jwk, secret].count(where: { $0 != nil }) == 1 else {
            throw ValidationError("give one of --pem, --jwk and --secret")
        }
        guard secret == nil || version.encoding != nil else {
            throw ValidationError("a secret needs its --encoding: utf8, hex, base64 or base64url; it is never guessed")
        }
        guard passphraseFile == nil || pem != nil else { throw ValidationError("--passphrase-file belongs to --pem") }
    }

    func run() throws {
        let ring = try ring.load()
        let algorithm = try ring.algorithm(asked: version.algorithm)
        let key = try read(algorithm)
        try ring.add(key, id: version.id ?? (version.kid == nil ? key.keyID : nil), version, action: "import")
    }

    private func read(_ algorithm: Algorithm) throws -> SigningKey {
        let path = pem ?? jwk ?? secret ?? ""
        let contents = try KeyFile.read(path)
        do throws(JOSEError) {
            if pem != nil { return try SigningKey(pem: contents, passphrase: try passphrase(), algorithm: algorithm) }
            if jwk != nil { return try JWK.signingKey(from: contents, algorithm: algorithm) }
            guard let encoding = version.encoding else {
                throw JOSEError(.invalidEncoding, "the encoding is not stated")
            }
            return try SigningKey(secret: try encoding.decode(contents), algorithm: algorithm)
        } catch { throw ImportRefused(path: path, reason: error.message) }
    }

    private func passphrase() throws(JOSEError) -> SecretBytes? {
        guard let passphraseFile else { return nil }
        do throws(KeyRingError) { return try KeyFile.read(passphraseFile).trimmingLineEnd() } catch {
            throw JOSEError(.passphraseRequired, "\(error)")
        }
    }
}

/// Why a key was not taken over.
struct ImportRefused: Error, CustomStringConvertible {
    let path: String
    let reason: String
    var description: String { "\(path): \(reason)" }
}
