import ArgumentParser
import JOSE
import Keyring
import WorkerConfiguration

/// `remint keys import`.
struct KeysImport: ParsableCommand, KeyRingCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Imports an existing key: a PEM, a JWK or a shared secret.",
        discussion: .help(
            "The file must not be readable by others. A secret's --encoding is stated, never guessed.",
            examples: """
                remint keys import --config remint.yaml --key shop --pem vendor.p8
                remint keys import --config remint.yaml --key shop --jwk key.jwk
                """))

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
        let algorithm = try ring.algorithm(option: version.algorithm)
        let key = try read(algorithm)
        try ring.add(key, id: version.id ?? (version.kid == nil ? key.keyID : nil), version, action: "import")
    }

    private func read(_ algorithm: Algorithm) throws -> SigningKey {
        let path = pem ?? jwk ?? secret ?? ""
        let contents = try KeyFile.read(path)
        do throws(JOSEError) {
            if pem != nil {
                return try SigningKey(importing: contents, passphrase: try passphrase(), algorithm: algorithm)
            }
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

/// The reason that a key was not imported.
struct ImportRefused: Error, CustomStringConvertible {
    let path: String
    let reason: String
    var description: String { "\(path): \(reason)" }
}
