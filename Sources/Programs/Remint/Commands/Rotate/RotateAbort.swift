import AdapterKit
import ArgumentParser
import Keyring
import Operations
import WorkerConfiguration

/// `remint rotate abort`.
struct RotateAbort: ParsableCommand, KeyRingCommand {
    static let configuration = CommandConfiguration(
        commandName: "abort", abstract: "Returns to the old version. A revocation cannot be aborted.",
        discussion: .help(
            "Tokens of the new version stay valid as long as the vendor has its key.",
            examples: """
                remint rotate abort --config remint.yaml --key shop
                remint rotate status --config remint.yaml --key shop
                """))

    @OptionGroup var ring: KeyRingOptions

    func run() throws {
        let ring = try ring.load()
        let (rotation, hadSigned) = try ring.reporting(next: RemintCommand("rotate abort")) {
            try Campaign(ring: ring).abort()
        }
        Terminal.print("\(ring.ring.name): \(rotation.from) signs; \(rotation.to) does not")
        ring.warnOfDamagedKeys()
        ring.warnOfLeftKey(of: rotation.to)
        if hadSigned {
            Terminal.print(
                "Leave \(rotation.to) at the vendor until its tokens have expired: \(RemintCommand("rotate retire", "--key-version", rotation.to))"
            )
        }
    }
}
