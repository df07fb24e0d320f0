import AdapterKit
import ArgumentParser
import Keyring
import Operations
import WorkerConfiguration

/// `remint rotate abort`.
struct RotateAbort: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "abort", abstract: "Back to the old version.",
        discussion: "What the new version signed stays good as long as the vendor has its key.")

    @OptionGroup var ring: KeyRingOptions

    func run() throws {
        let ring = try ring.load()
        let campaign = Campaign(ring: ring)
        let rotation = try campaign.load()
        var check = rotation
        try check.abort()
        var editor = try KeyRingEditor(ring.directory)
        let state = try editor.listing.version(rotation.to).state
        try editor.change { listing throws(KeyRingError) in
            // A version that never signed has no tokens to be careful of.
            state == .prepared
                ? try listing.retire(rotation.to) : try listing.promote(rotation.from, at: UnixTime.system())
        }
        _ = consume editor
        try campaign.change("rotate abort", detail: "back to \(rotation.from)") { try $0.abort() }
        Terminal.print("\(ring.ring.name): \(rotation.from) signs; \(rotation.to) does not")
        if state != .prepared {
            Terminal.print(
                "Leave \(rotation.to) at the vendor until its tokens ended: remint keys retire \(rotation.to)")
        }
    }
}
