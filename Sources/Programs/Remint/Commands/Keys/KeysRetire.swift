import AdapterKit
import ArgumentParser
import Keyring
import Operations
import WorkerConfiguration

/// `remint keys retire`.
struct KeysRetire: AsyncParsableCommand, KeyRingCommand {
    static let configuration = CommandConfiguration(
        commandName: "retire", abstract: "Retires a version, if no live token of it is left.",
        discussion: .help(
            """
            The command waits until the workers have loaded the ring and the events of that moment have outcomes. Then
            it reads the ledger. With --force, the command does neither, and the audit log records this option.
            """,
            examples: """
                remint keys retire 2026-11 --config remint.yaml --key shop
                remint keys retire 2026-11 --config remint.yaml --key shop --force
                """))

    @OptionGroup var ring: KeyRingOptions
    @Argument(help: "The version.") var version: String
    @Flag(help: "Retire even if live tokens remain.") var force = false
    @OptionGroup var clock: ClockToleranceOption
    @Option(help: "The brokers, instead of the configured ones. Required for an embedded broker without a fixed port.")
    var brokers: String?

    func run() async throws {
        let ring = try ring.load()
        try ring.requireNoPart(of: [version], in: .retire)
        if !force {
            try await ring.requireNoLiveToken(
                of: [version], instead: brokers, tolerating: clock.tolerance,
                next: RemintCommand("keys retire", version))
        }
        let next = RemintCommand("keys retire", arguments: (force ? ["--force"] : []) + [version])
        let changed = try ring.reporting(next: next) { try ring.retire(version, isForced: force) }
        Terminal.print("\(ring.ring.name): \(version) \(changed ? "is retired" : "was retired already")")
        ring.warnOfLeftKey(of: version)
        if changed {
            ring.printSteps(
                "At \(ring.apps.first?.adapter.vendor ?? "the vendor"):", ring.handover?.afterRetirement ?? [])
        }
    }
}
