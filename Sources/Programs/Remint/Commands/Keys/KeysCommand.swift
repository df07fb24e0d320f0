import AdapterKit
import ArgumentParser
import JOSE
import Keyring
import Operations
import WorkerConfiguration

/// `remint keys`: a key ring's content and changes.
struct KeysCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys", abstract: "Makes, imports and lists keys, and changes their states.",
        discussion: .help(
            """
            A version of a key has one of these states:

              prepared    does not sign; the vendor may already have it
              active      signs; one version of a ring is active
              passive     does not sign; its tokens are valid
              retired     out of use
              revoked     compromised, and out of use

            Workers apply a change within a second. Only one operator can change a ring at a time. Each command writes a
            change to the ring's audit.log before it makes the change.
            """,
            examples: """
                remint keys list --config remint.yaml
                remint keys generate --config remint.yaml --key shop
                """),
        subcommands: [
            KeysGenerate.self, KeysImport.self, KeysList.self, KeysPromote.self, KeysRetire.self, KeysRevoke.self,
            KeysRemove.self, KeysJWKS.self,
        ])
}

/// `remint keys generate`.
struct KeysGenerate: ParsableCommand, KeyRingCommand {
    static let configuration = CommandConfiguration(
        commandName: "generate",
        abstract: "Makes a new version. The first version of a ring is active, every other version prepared.",
        discussion: .help(
            examples: """
                remint keys generate --config remint.yaml --key shop
                remint keys generate --config remint.yaml --key shop --id 2026-12 --json
                """))

    @OptionGroup var ring: KeyRingOptions
    @OptionGroup var version: NewVersionOptions
    @OptionGroup var rsa: RSABitsOption

    func run() throws {
        let ring = try ring.load()
        let algorithm = try ring.algorithm(option: version.algorithm)
        let key = try ring.newKey(algorithm, version, rsaBits: rsa.bits)
        try ring.add(key, version, as: .generated)
    }
}

/// `remint keys import`.
struct KeysImport: ParsableCommand, KeyRingCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Imports an existing key: a PEM, a JWK or a shared secret.",
        discussion: .help(
            """
            Other accounts must not be able to read the file. A shared secret needs --encoding: the command never
            guesses the encoding.
            """,
            examples: """
                remint keys import --config remint.yaml --key shop --pem vendor.p8
                remint keys import --config remint.yaml --key shop --jwk key.jwk
                """))

    @OptionGroup var ring: KeyRingOptions
    @OptionGroup var version: NewVersionOptions
    @Option(help: ArgumentHelp("File with a private key as PEM.", valueName: "file")) var pem: String?
    @Option(help: ArgumentHelp("File with the passphrase of an encrypted PEM.", valueName: "file"))
    var passphraseFile: String?
    @Option(help: ArgumentHelp("File with a private or symmetric JWK.", valueName: "file")) var jwk: String?
    @Option(help: ArgumentHelp("File with a shared secret, in the encoding of --encoding.", valueName: "file"))
    var secret: String?

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
        let algorithm = try ring.algorithm(option: version.algorithm)
        let forms: [(path: String?, form: ImportedKey.Form)] = [(pem, .pem), (jwk, .jwk), (secret, .secret)]
        for (path, form) in forms {
            guard let path else { continue }
            let file = ImportedKey(
                path: path, form: form, passphraseFile: passphraseFile, encoding: version.encoding)
            try ring.add(try file.read(algorithm), version, as: .imported)
        }
    }
}

/// An existing key in a file: a PEM, a JWK or a shared secret.
struct ImportedKey {
    enum Form { case pem, jwk, secret }

    private static let pemStart = Array("-----BEGIN ".utf8)

    let path: String
    /// The form of the file; nil for the form that the first bytes show.
    var form: Form?
    /// The file of the passphrase of an encrypted PEM; nil for none.
    let passphraseFile: String?
    /// The encoding of a shared secret; nil where neither an option nor the vendor states it.
    let encoding: SecretEncoding?

    /// Reads the key, for tokens of `algorithm`.
    ///
    /// - Throws: `KeyRingError` for a file that cannot be read, `ImportRefused` for any other key, and for a passphrase of
    ///   a key that is no PEM.
    func read(_ algorithm: Algorithm) throws -> SigningKey {
        let contents = try KeyFile.read(path)
        let form = form ?? Self.form(of: contents, algorithm)
        guard passphraseFile == nil || form == .pem else {
            throw ImportRefused(path: path, reason: "it is no PEM; omit --passphrase-file")
        }
        let passphrase = try passphraseFile.map { try KeyFile.read($0).trimmingLineEnd() }
        do throws(JOSEError) {
            switch form {
            case .pem: return try SigningKey(importing: contents, passphrase: passphrase, algorithm: algorithm)
            case .jwk: return try JWK.signingKey(from: contents, algorithm: algorithm)
            case .secret:
                guard !contents.withBytes({ $0.starts(with: Self.pemStart) }) else {
                    throw JOSEError(
                        .invalidKey, "it is PEM, and \(algorithm.rawValue) signs with a shared secret of the vendor's")
                }
                guard let encoding else {
                    throw JOSEError(
                        .invalidEncoding, "a secret needs its --encoding: utf8, hex, base64 or base64url")
                }
                return try SigningKey(secret: try encoding.decode(contents), algorithm: algorithm)
            }
        } catch { throw ImportRefused(path: path, reason: error.message) }
    }

    /// Returns the form of a key for `algorithm` by its first bytes.
    private static func form(of contents: SecretBytes, _ algorithm: Algorithm) -> Form {
        let isJWK = contents.withBytes { $0.first { $0 > 0x20 } == UInt8(ascii: "{") }
        if isJWK { return .jwk }
        return algorithm.keyType == .secret ? .secret : .pem
    }
}

/// The reason that a key was not imported.
struct ImportRefused: Error, CustomStringConvertible {
    let path: String
    let reason: String
    var description: String { "\(path): \(reason)" }
}

/// `remint keys list`.
struct KeysList: ParsableCommand, ConfigurationCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Lists the versions of every key ring, or of one ring.",
        discussion: .help(
            examples: """
                remint keys list --config remint.yaml
                remint keys list --config remint.yaml --key shop --json
                """))

    @OptionGroup var options: ConfigurationOptions
    @Option(name: .shortAndLong, help: "Only this key ring.") var key: String?
    @Flag(help: "Print the list as JSON, one line for each version.") var json = false

    func run() throws {
        let configuration = try options.loadConfiguration()
        let rings = configuration.keys.filter { key == nil || $0.name == key }
        guard !rings.isEmpty else {
            throw ValidationError("known key rings: \(configuration.keys.map(\.name).joined(separator: ", "))")
        }
        var table = TextTable(
            "KEY RING", "VERSION", "STATE", "ALGORITHM", "KID", "CREATED", "ACTIVATED", "RETIRE AFTER", "APPS")
        for ring in rings {
            guard let path = ring.path else {
                Terminal.error("remint: \(ring.name) is behind the signer at \(ring.signer ?? "its socket")")
                continue
            }
            let apps = configuration.apps.filter { $0.key == ring.name }.map(\.name).joined(separator: ", ")
            for version in try KeyRingDirectory(path: path).readListing().versions {
                if json {
                    printJSON(version, of: ring.name)
                } else {
                    table.add(
                        ring.name, version.id, version.state.rawValue, version.algorithm.rawValue,
                        version.keyID ?? version.id, version.created?.description ?? "-",
                        version.activated?.description ?? "-", version.retireAfter?.description ?? "-", apps)
                }
            }
        }
        if !json { for line in table.lines { Terminal.print(line) } }
    }

    private func printJSON(_ version: ListedVersion, of ring: String) {
        var json = JSONWriter()
        json.beginObject()
        json.member("key_ring", ring)
        json.member("version", version.id)
        json.member("state", version.state.rawValue)
        json.member("algorithm", version.algorithm.rawValue)
        json.member("kid", version.keyID ?? version.id)
        for (name, time) in [
            ("created", version.created), ("activated", version.activated), ("retire_after", version.retireAfter),
        ] {
            if let time { json.member(name, time.description) }
        }
        json.endObject()
        Terminal.print(json.printable)
    }
}

/// `remint keys jwks`.
struct KeysJWKS: ParsableCommand, KeyRingCommand {
    static let configuration = CommandConfiguration(
        commandName: "jwks", abstract: "Prints the public keys of a ring as a JWK Set (RFC 7517).",
        discussion: .help(
            """
            The set has the prepared, active and passive versions. So a verifier has a key before the first token of
            this key arrives.
            """,
            examples: """
                remint keys jwks --config remint.yaml --key shop
                remint keys jwks --config remint.yaml --key shop > jwks.json
                """))

    @OptionGroup var ring: KeyRingOptions

    func run() throws {
        let ring = try ring.load()
        let keys = try ring.directory.load(name: ring.ring.name).verificationKeys
        Terminal.print(String(decoding: try JWK.setJSON(of: keys), as: UTF8.self))
        let secrets = keys.count { $0.secret != nil }
        if secrets > 0 {
            Terminal.error(
                "remint: \(secrets.of("shared secret is", "shared secrets are")) not in the set: a secret has no public form"
            )
        }
    }
}

/// `remint keys remove`.
struct KeysRemove: AsyncParsableCommand, KeyRingCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Deletes a retired or revoked version, with its key file.",
        discussion: .help(
            """
            The command refuses a version that is in use or part of an open campaign. It also refuses a revoked version
            whose key another version in use has, and a version with a live token in the ledger. With --force, the
            command does not read the ledger, and the audit log records this option.

            After the removal, no report shows that this ring signed a token of the version. Remint no longer recognizes
            a revoked key that someone imports again.
            """,
            examples: """
                remint keys remove 2026-11 --config remint.yaml --key shop
                remint keys remove 2026-11 --config remint.yaml --key shop --force
                """))

    @OptionGroup var ring: KeyRingOptions
    @Argument(help: "The version.") var version: String
    @Flag(help: "Remove even if live tokens remain.") var force = false
    @OptionGroup var clock: ClockToleranceOption
    @Option(help: "The brokers, instead of the configured ones. Required for an embedded broker without a fixed port.")
    var brokers: String?

    func run() async throws {
        let ring = try ring.load()
        try ring.requireRemovable(version)
        if !force {
            try await ring.requireNoLiveToken(
                of: [version], instead: brokers, tolerating: clock.tolerance,
                next: RemintCommand("keys remove", version))
        }
        let left = try ring.remove(version, isForced: force)
        Terminal.print("\(ring.ring.name): \(version) is removed")
        for path in left {
            Terminal.error(
                "remint: warning: \(path) is outside the ring's folder, a link or in use elsewhere, and is not deleted; delete it where nothing needs it"
            )
        }
    }
}
