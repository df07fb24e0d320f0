import ArgumentParser
import Keyring
import Operations
import WorkerConfiguration

/// `remint rotate pause`.
struct RotatePause: ParsableCommand, KeyRingCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause", abstract: "Stops re-issuing; a running one ends after its batch.",
        discussion: .help(
            examples: """
                remint rotate pause --config remint.yaml --key shop
                remint rotate pause --config remint.yaml --key shop --reason OPS-7
                """))

    @OptionGroup var ring: KeyRingOptions
    @Option(help: "The reason, for the status.") var reason = "paused by an operator"

    func run() throws {
        let ring = try ring.load()
        try Campaign(ring: ring).pause(because: reason)
        Terminal.print("\(ring.ring.name): paused")
    }
}

/// `remint rotate resume`.
struct RotateResume: ParsableCommand, KeyRingCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume", abstract: "Continues re-issuing.",
        discussion: .help(
            "A canary that did not pass is followed by one of other users, judged by its own outcomes alone.",
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
