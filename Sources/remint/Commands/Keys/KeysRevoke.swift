import ArgumentParser
import Keyring
import Operations
import WorkerConfiguration

/// `remint keys revoke`.
struct KeysRevoke: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke", abstract: "Declares a version leaked: it stops signing at once.",
        discussion: """
            Where it is the active one, --promote names its successor; without one nothing is signed and events wait in the
            retry tiers. Exit code 1 while another version of any ring holds its key and is in use. Its users get new tokens with: remint reissue --ledger --key RING --key-id VERSION.
            """)

    @OptionGroup var ring: KeyRingOptions
    @Argument(help: "The version.") var version: String
    @Option(help: "The version that signs instead.") var promote: String?

    func run() throws {
        let ring = try ring.load()
        ring.warnOfHolders(of: version)
        let changed = try ring.revoke(version, promoting: promote)
        Terminal.print("\(ring.ring.name): \(version) \(changed ? "is revoked" : "was revoked already")")
        if try ring.directory.readListing().active == nil {
            Terminal.error("remint: warning: no version signs; promote one: remint keys promote --now VERSION")
        }
        ring.warnOfDamagedKeys()
        try ring.requireRevokedEverywhere(version)
    }
}
