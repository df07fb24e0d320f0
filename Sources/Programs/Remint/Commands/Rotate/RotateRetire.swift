import AdapterKit
import ArgumentParser
import Keyring
import Operations
import WorkerConfiguration

/// `remint rotate retire`.
struct RotateRetire: AsyncParsableCommand, KeyRingCommand {
    static let configuration = CommandConfiguration(
        commandName: "retire", abstract: "Retires the old version, if no live token of it is left.",
        discussion: .help(
            """
            The command first waits until the workers have loaded the ring, and until the events of that moment have
            outcomes. Then it reads the whole token topic. It counts the live tokens that name the ring and the version,
            also those of apps that are no longer configured. It also counts the live tokens of the ring's revoked
            versions. It refuses to retire the version, and prints the numbers, in these cases:

              - a live token is left
              - a live token names no ring of the configuration
              - a record cannot be read, or is no token
              - an open transaction hides a part of the topic for more than 30 seconds
              - an event of that moment has no outcome

            A device may still hold a token that was replaced, because the ledger has only the newest token of each
            user. With --key-version, the command retires another passive version, which is part of no open campaign.
            """,
            examples: """
                remint rotate retire --config remint.yaml --key shop
                remint rotate retire --config remint.yaml --key shop --force
                remint rotate retire --config remint.yaml --key shop --key-version 2026-11
                """))

    @OptionGroup var ring: KeyRingOptions
    @Option(name: .customLong("key-version"), help: "A version to retire that is part of no open campaign.")
    var version: String?
    @Flag(help: "Retire even if live tokens remain. The audit log records this option.") var force = false
    @OptionGroup var clock: ClockToleranceOption
    @Option(help: "The brokers, instead of the configured ones. Required for an embedded broker without a fixed port.")
    var brokers: String?

    func run() async throws {
        let ring = try ring.load()
        if let version { return try await retire(version, ring) }
        let campaign = Campaign(ring: ring)
        let rotation = try campaign.derived()
        var check = rotation
        try check.retired()
        if !force {
            try ring.requireRevokedEverywhere()
            try await ring.requireNoLiveToken(
                of: try ring.withRevoked(rotation.from), instead: brokers, tolerating: clock.tolerance,
                next: RemintCommand("rotate retire"))
        }
        let next = RemintCommand("rotate retire", arguments: force ? ["--force"] : [])
        try ring.reporting(next: next) { try campaign.retire(rotation.id, isForced: force) }
        let state = rotation.kind == .revocation ? "revoked" : "retired"
        Terminal.print("\(ring.ring.name): \(rotation.from) is \(state); the campaign is over")
        ring.warnOfLeftKey(of: rotation.from)
        Terminal.print(ring.unknowable(of: rotation.from, replacedBy: rotation.to))
        ring.printSteps(
            "At \(ring.apps.first?.adapter.vendor ?? "the vendor"):", ring.handover?.afterRetirement ?? [])
        if force { try ring.requireRevokedEverywhere() }
    }

    private func retire(_ version: String, _ ring: RingInUse) async throws {
        try ring.requireNoPart(of: [version], in: .retire)
        let next = RemintCommand("rotate retire", "--key-version", version)
        if !force {
            try await ring.requireNoLiveToken(
                of: [version], instead: brokers, tolerating: clock.tolerance, next: next)
        }
        let again = RemintCommand(
            "rotate retire", arguments: ["--key-version", version] + (force ? ["--force"] : []))
        let changed = try ring.reporting(next: again) { try ring.retire(version, isForced: force) }
        Terminal.print("\(ring.ring.name): \(version) \(changed ? "is retired" : "was retired already")")
        ring.warnOfLeftKey(of: version)
        guard changed else { return }
        ring.printSteps(
            "At \(ring.apps.first?.adapter.vendor ?? "the vendor"):", ring.handover?.afterRetirement ?? [])
    }
}
