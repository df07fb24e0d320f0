import AdapterKit
import ArgumentParser
import Keyring
import Operations
import WorkerConfiguration

/// `remint keys retire`.
struct KeysRetire: AsyncParsableCommand, KeyRingCommand {
    static let configuration = CommandConfiguration(
        commandName: "retire", abstract: "Ends the use of a version, once no token of it lives.",
        discussion: .help(
            """
            Reads the ledger first, once the workers have loaded the ring and the events of that moment have outcomes. --force does
            neither, and is named in the audit log.
            """,
            examples: """
                remint keys retire 2026-11 --config remint.yaml --key shop
                remint keys retire 2026-11 --config remint.yaml --key shop --force
                """))

    @OptionGroup var ring: KeyRingOptions
    @Argument(help: "The version.") var version: String
    @Flag(help: "Retire even if live tokens remain.") var force = false
    @OptionGroup var clock: ClockToleranceOption
    @Option(help: "The brokers, instead of the configured ones; needed for an embedded broker.") var brokers: String?

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
