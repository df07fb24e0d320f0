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
            "Without --now, the command refuses a version that has not been prepared for the app's publish_window.",
            examples: """
                remint rotate promote --config remint.yaml --key shop
                remint rotate promote --config remint.yaml --key shop --now
                """))

    @OptionGroup var ring: KeyRingOptions
    @Flag(help: "Promote at once, even before the publish window is over.") var now = false

    func run() throws {
        let ring = try ring.load()
        let next = RemintCommand("rotate promote", arguments: now ? ["--now"] : [])
        let rotation = try ring.reporting(next: next) { try Campaign(ring: ring).promote(isForced: now) }
        let old = rotation.kind == .revocation ? "is revoked" : "still verifies"
        Terminal.print("\(ring.ring.name): \(rotation.to) signs; \(rotation.from) \(old)")
        ring.printSteps("At \(ring.apps.first?.adapter.vendor ?? "the vendor"):", ring.handover?.afterPromotion ?? [])
        Terminal.print("Then: \(RemintCommand("rotate reissue"))")
    }
}
