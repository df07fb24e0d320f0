import AdapterKit
import ArgumentParser
import Keyring
import Operations
import WorkerConfiguration

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
        let algorithm = try ring.algorithm(option: version.algorithm)
        if ring.handover?.origin == .vendor {
            Terminal.error(
                "remint: warning: \(ring.apps[0].adapter.vendor) makes its keys itself; see remint keys import")
        }
        let key = try KeyGeneration.key(
            algorithm, encoding: ring.encoding(asked: version.encoding), rsaBits: rsaBits, id: version.id)
        try ring.add(key, id: version.id, version, action: "generate")
    }
}
