import AdapterKit
import ArgumentParser
import Keyring
import Operations
import WorkerConfiguration

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
