import AdapterKit
import ArgumentParser
import JOSE
import Keyring
import Operations
import WorkerConfiguration

/// `remint rotate prepare`.
struct RotatePrepare: ParsableCommand, KeyRingCommand {
    static let configuration = CommandConfiguration(
        commandName: "prepare", abstract: "Adds a new version to the ring, and prints the steps to do at the vendor.",
        discussion: .help(
            """
            The command generates a key. With --key-version, it uses a version in the ring: a prepared one, for example
            an imported key, or a passive one. A passive version signed before, and the campaign returns to it.
            """,
            examples: """
                remint rotate prepare --config remint.yaml --key shop --reason yearly
                remint rotate prepare --config remint.yaml --key shop --key-version 2026-11
                """))

    @OptionGroup var ring: KeyRingOptions
    // Not --version, which is the program's.
    @Option(name: .customLong("key-version"), help: "A prepared or passive version to use instead of a new key.")
    var version: String?
    @Option(help: "The reason, which the campaign's file and rotate status show.") var reason: String?
    @OptionGroup var rsa: RSABitsOption

    func run() throws {
        let ring = try ring.load()
        let campaign = Campaign(ring: ring)
        // First the campaign, then the key: a crash in between leaves a campaign that knows which key it lacks.
        let rotation = try campaign.prepare(version, why: reason)
        try campaign.addMissingKey(of: rotation, rsaBits: rsa.bits)
        try tell(rotation, ring)
    }

    private func tell(_ rotation: Rotation, _ ring: RingInUse) throws {
        Terminal.print(
            "\(ring.ring.name): from \(rotation.from) to \(rotation.to): \(rotation.phase.rawValue) (campaign \(rotation.id))"
        )
        let loaded = try ring.directory.load(name: ring.ring.name)
        if let key = loaded.versions.first(where: { $0.id == rotation.to })?.verificationKey {
            if let pem = try key.publicKeyPEM() {
                Terminal.print("\n" + pem)
            } else {
                let file = try ring.directory.readListing().version(rotation.to).file
                Terminal.print(
                    "its secret is in \(ring.directory.path)/\(file), as the vendor's dashboard writes it")
            }
        }
        let promotion = RemintCommand("rotate promote")
        guard try ring.directory.readListing().state(of: rotation.to) == .prepared else {
            // It signed before, so verifiers have it.
            return Terminal.print("Then: \(promotion)")
        }
        guard let handover = ring.handover else { return Terminal.print("Then: \(promotion)") }
        ring.printSteps("At \(ring.apps[0].adapter.vendor), before it may sign:", handover.beforePromotion)
        let window = DurationText.format(seconds: ring.publishWindow)
        Terminal.print("Then, in \(window) at the earliest: \(promotion)")
    }
}
