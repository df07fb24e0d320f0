import AdapterKit
import ArgumentParser
import Keyring
import Operations
import WorkerConfiguration

/// `remint rotate promote`.
struct RotatePromote: ParsableCommand, KeyRingCommand {
    static let configuration = CommandConfiguration(
        commandName: "promote", abstract: "Makes the new version sign.",
        discussion: .help(
            """
            Without --now, the command refuses a version that has not been prepared for the app's publish_window. Use
            --now for vendors that know only one key at a time, and for emergencies. With --key-version, the version
            signs without a campaign, and the version that signed before becomes passive.
            """,
            examples: """
                remint rotate promote --config remint.yaml --key shop
                remint rotate promote --config remint.yaml --key shop --now
                remint rotate promote --config remint.yaml --key shop --key-version 2026-12
                """))

    @OptionGroup var ring: KeyRingOptions
    @Option(name: .customLong("key-version"), help: "A version to make sign without a campaign.") var version: String?
    @Flag(help: "Promote at once, even before the publish window is over.") var now = false

    func run() throws {
        let ring = try ring.load()
        let named = version.map { ["--key-version", $0] } ?? []
        let next = RemintCommand("rotate promote", arguments: named + (now ? ["--now"] : []))
        if let version {
            let changed = try ring.reporting(next: next) { try ring.promote(version, isForced: now) }
            Terminal.print("\(ring.ring.name): \(version) \(changed ? "signs now" : "signs already")")
            guard changed else { return }
        } else {
            let rotation = try ring.reporting(next: next) { try Campaign(ring: ring).promote(isForced: now) }
            let old = rotation.kind == .revocation ? "is revoked" : "still verifies"
            Terminal.print("\(ring.ring.name): \(rotation.to) signs; \(rotation.from) \(old)")
        }
        ring.printSteps("At \(ring.apps.first?.adapter.vendor ?? "the vendor"):", ring.handover?.afterPromotion ?? [])
        if version == nil { Terminal.print("Then: \(RemintCommand("rotate reissue"))") }
    }
}
