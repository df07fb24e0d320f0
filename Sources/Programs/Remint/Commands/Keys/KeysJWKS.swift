import ArgumentParser
import JOSE
import Keyring
import Operations
import WorkerConfiguration

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
