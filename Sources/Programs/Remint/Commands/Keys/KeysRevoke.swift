import ArgumentParser
import Keyring
import Operations
import WorkerConfiguration

/// `remint keys revoke`.
struct KeysRevoke: AsyncParsableCommand, KeyRingCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke", abstract: "Revokes a compromised version, which stops signing at once.",
        discussion: .help(
            """
            If the version is active, --promote names its successor. Without a successor, no version signs, and events
            wait in the retry tiers.

            Then the command waits until the workers have loaded the ring and the events of that moment have outcomes,
            and reads the ledger. It prints the number of live tokens of the ring's revoked versions, and the command
            that re-issues these tokens. The exit code is 1 in these cases:

              - live tokens of a revoked version are left, or their number is unknown
              - an event of that moment has no outcome
              - another version in use, in any ring, has the same key
            """,
            examples: """
                remint keys revoke 2026-11 --config remint.yaml --key shop
                remint keys revoke 2026-11 --config remint.yaml --key shop --promote 2026-12
                """))

    @OptionGroup var ring: KeyRingOptions
    @Argument(help: "The version.") var version: String
    @Option(help: "The version that signs instead.") var promote: String?
    @Option(help: "The brokers, instead of the configured ones. Required for an embedded broker without a fixed port.")
    var brokers: String?

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
