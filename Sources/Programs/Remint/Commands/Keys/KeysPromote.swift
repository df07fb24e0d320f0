import AdapterKit
import ArgumentParser
import Keyring
import Operations
import WorkerConfiguration

/// `remint keys promote`.
struct KeysPromote: ParsableCommand, KeyRingCommand {
    static let configuration = CommandConfiguration(
        commandName: "promote", abstract: "Makes a version sign. The version that signed before becomes passive.",
        discussion: .help(
            """
            A version must first have been prepared for the app's publish_window, so that every verifier has its key.
            Use --now for vendors that know only one key at a time, and for emergencies.
            """,
            examples: """
                remint keys promote 2026-12 --config remint.yaml --key shop
                remint keys promote 2026-12 --config remint.yaml --key shop --now
                """))

    @OptionGroup var ring: KeyRingOptions
    @Argument(help: "The version.") var version: String
    @Flag(help: "Promote at once, even before the publish window is over.") var now = false

    func run() throws {
        let ring = try ring.load()
        let next = RemintCommand("keys promote", arguments: (now ? ["--now"] : []) + [version])
        let changed = try ring.reporting(next: next) { try ring.promote(version, isForced: now) }
        Terminal.print("\(ring.ring.name): \(version) \(changed ? "signs now" : "signs already")")
        if changed {
            ring.printSteps(
                "At \(ring.apps.first?.adapter.vendor ?? "the vendor"):", ring.handover?.afterPromotion ?? [])
        }
    }
}
