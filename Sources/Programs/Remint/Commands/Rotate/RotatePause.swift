import ArgumentParser
import Keyring
import Operations
import WorkerConfiguration

/// `remint rotate pause`.
struct RotatePause: ParsableCommand, KeyRingCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause", abstract: "Pauses the campaign. A running reissue stops after its batch.",
        discussion: .help(
            examples: """
                remint rotate pause --config remint.yaml --key shop
                remint rotate pause --config remint.yaml --key shop --reason OPS-7
                """))

    @OptionGroup var ring: KeyRingOptions
    @Option(help: "The reason, which rotate status shows.") var reason = "paused by an operator"

    func run() throws {
        let ring = try ring.load()
        try Campaign(ring: ring).pause(because: reason)
        Terminal.print("\(ring.ring.name): paused")
    }
}

/// `remint rotate resume`.
struct RotateResume: ParsableCommand, KeyRingCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume", abstract: "Ends the campaign's pause. Then run rotate reissue to continue.",
        discussion: .help(
            """
            If a canary did not pass, the next canary consists of other users. Only the outcomes of the new canary
            decide whether it passes.
            """,
            examples: """
                remint rotate resume --config remint.yaml --key shop
                remint rotate reissue --config remint.yaml --key shop
                """))

    @OptionGroup var ring: KeyRingOptions

    func run() throws {
        let ring = try ring.load()
        try Campaign(ring: ring).resume()
        Terminal.print("\(ring.ring.name): not paused; go on with: \(RemintCommand("rotate reissue"))")
    }
}
