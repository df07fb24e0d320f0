import AdapterKit
import ArgumentParser
import Keyring
import Operations
import WorkerConfiguration

/// `remint keys generate`.
struct KeysGenerate: ParsableCommand, KeyRingCommand {
    static let configuration = CommandConfiguration(
        commandName: "generate", abstract: "Makes a new version: prepared, or active where it is the ring's first.",
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
        if ring.handover?.origin == .vendor {
            Terminal.error(
                "remint: warning: \(ring.apps[0].adapter.vendor) makes its keys itself; see: \(RemintCommand("keys import", "--help"))"
            )
        }
        let key = try KeyGeneration.key(
            algorithm, encoding: ring.encoding(asked: version.encoding), rsaBits: rsa.bits, id: version.id)
        try ring.add(key, id: version.id, version, action: "generate")
    }
}
