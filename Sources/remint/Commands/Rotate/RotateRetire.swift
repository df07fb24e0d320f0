import AdapterKit
import ArgumentParser
import Keyring
import Operations
import WorkerConfiguration

/// `remint rotate retire`.
struct RotateRetire: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retire", abstract: "Ends the use of the old version, once no token of it lives.")

    @OptionGroup var ring: KeyRingOptions
    @Flag(help: "Whatever the ledger says; named in the audit log.") var force = false
    @Option(help: "The brokers, instead of the configured ones; needed for an embedded broker.") var brokers: String?

    func run() async throws {
        let ring = try ring.load()
        let campaign = Campaign(ring: ring)
        var rotation = try campaign.load()
        try rotation.retired()
        if !force { try await ring.requireNoLiveToken(of: rotation.from, instead: brokers) }
        var editor = try KeyRingEditor(ring.directory)
        if try editor.listing.version(rotation.from).state != .revoked {
            try editor.change { listing throws(KeyRingError) in try listing.retire(rotation.from) }
        }
        _ = consume editor
        try campaign.change("rotate retire", detail: force ? "forced" : "") { try $0.retired() }
        Terminal.print("\(ring.ring.name): \(rotation.from) is retired; the campaign is over")
        ring.printSteps(
            "At \(ring.apps.first?.adapter.vendor ?? "the vendor"):", ring.handover?.afterRetirement ?? [])
    }
}
