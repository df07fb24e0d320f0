import ArgumentParser
import Keyring
import Operations
import WorkerConfiguration

/// `remint keys revoke`.
struct KeysRevoke: AsyncParsableCommand, KeyRingCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke", abstract: "Declares a version leaked: it stops signing at once.",
        discussion: .help(
            """
            Where it is the active one, --promote names its successor; without one nothing is signed and events wait in the
            retry tiers. Then the ledger is read, once the workers have loaded the ring and the events of that moment have outcomes: the command prints the number of live tokens of the ring's revoked versions,
            and the command that gives their users new ones. Exit code 1 while such a token is left, their number is unknown, or such an event has no outcome,
            and while another version of any ring holds its key and is in use.
            """,
            examples: """
                remint keys revoke 2026-11 --config remint.yaml --key shop
                remint keys revoke 2026-11 --config remint.yaml --key shop --promote 2026-12
                """))

    @OptionGroup var ring: KeyRingOptions
    @Argument(help: "The version.") var version: String
    @Option(help: "The version that signs instead.") var promote: String?
    @Option(help: "The brokers, instead of the configured ones; needed for an embedded broker.") var brokers: String?

    func run() async throws {
        let ring = try ring.load()
        ring.warnOfHolders(of: version)
        let changed: Bool
        do { changed = try ring.revoke(version, promoting: promote) } catch let error as KeyRingError {
            let successor = promote.map { ["--promote", $0] } ?? []
            await ring.warnOfUse(
                of: version, instead: brokers,
                next: RemintCommand("keys revoke", arguments: [version] + successor))
            throw error
        }
        Terminal.print("\(ring.ring.name): \(version) \(changed ? "is revoked" : "was revoked already")")
        if try ring.directory.readListing().active == nil {
            Terminal.error(
                "remint: warning: no version signs; promote one: \(RemintCommand("keys promote", "--now", "ID"))")
        }
        ring.warnOfDamagedKeys()
        do { try ring.requireRevokedEverywhere(version) } catch {
            Terminal.print("\(ring.ring.name): \(await ring.leak(of: version, instead: brokers).sentence)")
            throw error
        }
        try await ring.requireNoLeak(of: version, instead: brokers)
    }
}
