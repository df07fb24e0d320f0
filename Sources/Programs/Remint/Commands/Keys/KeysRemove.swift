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
            The command refuses a version that is in use or part of an open campaign. It also refuses a revoked version
            whose key another version in use has, and a version with a live token in the ledger. With --force, the
            command does not read the ledger, and the audit log records this option.

            After the removal, no report shows that this ring signed a token of the version. Remint no longer recognizes
            a revoked key that someone imports again.
            """,
            examples: """
                remint keys remove 2026-11 --config remint.yaml --key shop
                remint keys remove 2026-11 --config remint.yaml --key shop --force
                """))

    @OptionGroup var ring: KeyRingOptions
    @Argument(help: "The version.") var version: String
    @Flag(help: "Remove even if live tokens remain.") var force = false
    @OptionGroup var clock: ClockToleranceOption
    @Option(help: "The brokers, instead of the configured ones. Required for an embedded broker without a fixed port.")
    var brokers: String?

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
