import ArgumentParser
import JOSE
import Keyring
import WorkerConfiguration

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
