import AdapterKit
import ArgumentParser
import Keyring
import Operations
import Pipeline
import WorkerConfiguration

/// `remint rotate revoke`.
struct RotateRevoke: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "For a leaked key: it stops signing at once, and its users get new tokens first.",
        discussion: """
            The successor is the campaign's prepared version, or the one --promote names; without one nothing is signed until a
            version is promoted, and events wait in the retry tiers. No canary and no publish window: the key is out.
            """)

    @OptionGroup var ring: KeyRingOptions
    @OptionGroup var pace: CampaignPaceOptions
    @Option(help: "The leaked version. Default: the active one, or the one the campaign replaces.") var version: String?
    @Option(help: "The version that signs instead.") var promote: String?
    @Flag(help: "Do not re-issue now.") var noReissue = false

    func run() async throws {
        let ring = try ring.load()
        let campaign = Campaign(ring: ring)
        let open = try campaign.loadIfAny().flatMap { $0.phase.isOver ? nil : $0 }
        let listing = try ring.directory.readListing()
        guard let leaked = version ?? open?.from ?? listing.active?.id else {
            throw RotationError("no version is active; name the leaked one with --version")
        }
        let successor = promote ?? (open?.to == leaked ? open?.from : open?.to) ?? listing.active.map(\.id)
        let other = successor == leaked ? nil : successor
        try ring.revoke(leaked, promoting: other)
        Terminal.print("\(ring.ring.name): \(leaked) is revoked")
        guard let other else {
            Terminal.error(
                "remint: warning: no version signs; import or generate one, then: remint rotate revoke --version \(leaked) --promote ID"
            )
            return
        }
        Terminal.print("\(ring.ring.name): \(other) signs")
        try follow(leaked, other, campaign, open)
        guard !noReissue else { return }
        var options = pace
        options.canary = 0
        try await options.reissue(for: campaign)
    }

    /// Makes the campaign be about the leaked version.
    private func follow(_ leaked: String, _ other: String, _ campaign: Campaign, _ open: Rotation?) throws {
        if let open, open.from == leaked, open.to == other {
            try campaign.change("rotate promote", detail: "after a revocation") { rotation in
                rotation.resume()
                try rotation.promoted()
            }
            return
        }
        let editor = try KeyRingEditor(campaign.ring.directory)
        var rotation = Rotation(from: leaked, to: other, at: UnixTime.system())
        try rotation.promoted()
        try campaign.begin(rotation, editor)
    }
}
