import ArgumentParser
import Keyring
import Operations
import WorkerConfiguration

/// `remint keys remove`.
struct KeysRemove: AsyncParsableCommand, KeyRingCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Deletes a retired or revoked version, with its key file.",
        discussion: .help(
            """
            Refused for a version in use or in an open campaign, for a revoked one whose key another version in use holds, and while
            the ledger shows a live token of it; --force does not read the ledger, and is named in the audit log. Afterwards no report
            shows that a token of the version was signed with this ring, and nothing recognizes a revoked key that is imported again.
            """,
            examples: """
                remint keys remove 2026-11 --config remint.yaml --key shop
                remint keys remove 2026-11 --config remint.yaml --key shop --force
                """))

    @OptionGroup var ring: KeyRingOptions
    @Argument(help: "The version.") var version: String
    @Flag(help: "Remove even if live tokens remain.") var force = false
    @OptionGroup var clock: ClockToleranceOption
    @Option(help: "The brokers, instead of the configured ones; needed for an embedded broker.") var brokers: String?

    func run() async throws {
        let ring = try ring.load()
        try ring.requireRemovable(version)
        if !force {
            try await ring.requireNoLiveToken(
                of: [version], instead: brokers, tolerating: clock.tolerance,
                next: RemintCommand("keys remove", version))
        }
        let left = try ring.remove(version, isForced: force)
        Terminal.print("\(ring.ring.name): \(version) is removed")
        for path in left {
            Terminal.error(
                "remint: warning: \(path) is outside the ring's folder, a link or in use elsewhere, and is not deleted; delete it where nothing needs it"
            )
        }
    }
}
