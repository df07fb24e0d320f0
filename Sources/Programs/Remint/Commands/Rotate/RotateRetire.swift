import AdapterKit
import ArgumentParser
import Keyring
import Operations
import WorkerConfiguration

/// `remint rotate retire`.
struct RotateRetire: AsyncParsableCommand, KeyRingCommand {
    static let configuration = CommandConfiguration(
        commandName: "retire", abstract: "Ends the use of the old version, once no token of it lives.",
        discussion: .help(
            """
            Reads the whole token topic and counts the live tokens that name the ring and the version, whatever apps there are
            today, and those of the ring's revoked versions. Refused, with the number of each, while there is one, while one names
            no ring of the configuration, while a record cannot be read or is no token, and while an open transaction hides a part
            of the topic for more than 30 seconds. First it waits until the workers have loaded the ring, and until the events of that
            moment have outcomes; refused while some have none. A token that was replaced may still be on a device: the ledger has the newest
            of each user alone.
            """,
            examples: """
                remint rotate retire --config remint.yaml --key shop
                remint rotate retire --config remint.yaml --key shop --force
                """))

    @OptionGroup var ring: KeyRingOptions
    @Flag(help: "Retire even if live tokens remain; named in the audit log.") var force = false
    @OptionGroup var clock: ClockToleranceOption
    @Option(help: "The brokers, instead of the configured ones; needed for an embedded broker.") var brokers: String?

    func run() async throws {
        let ring = try ring.load()
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
}
