import ArgumentParser
import Keyring
import Operations
import WorkerConfiguration

/// `remint keys revoke`.
struct KeysRevoke: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke", abstract: "Declares a version leaked: it stops signing at once.",
        discussion: """
            Where it is the active one, --promote names its successor; without one nothing is signed and events wait in the
            retry tiers. Then the ledger is read, where brokers answer: the command says how many live tokens of the ring's
            revoked versions there are, and which command gives their users new ones. Exit code 1 while another version of any
            ring holds its key and is in use.
            """)

    @OptionGroup var ring: KeyRingOptions
    @Argument(help: "The version.") var version: String
    @Option(help: "The version that signs instead.") var promote: String?
    @Option(help: "The brokers, instead of the configured ones; needed for an embedded broker.") var brokers: String?

    func run() async throws {
        let ring = try ring.load()
        ring.warnOfHolders(of: version)
        let changed = try ring.revoke(version, promoting: promote)
        Terminal.print("\(ring.ring.name): \(version) \(changed ? "is revoked" : "was revoked already")")
        if try ring.directory.readListing().active == nil {
            Terminal.error("remint: warning: no version signs; promote one: remint keys promote --now VERSION")
        }
        Terminal.print("\(ring.ring.name): \(await ring.leak(of: version, instead: brokers))")
        ring.warnOfDamagedKeys()
        try ring.requireRevokedEverywhere(version)
    }
}
