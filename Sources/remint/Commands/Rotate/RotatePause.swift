import ArgumentParser
import Keyring
import Operations
import WorkerConfiguration

/// `remint rotate pause`.
struct RotatePause: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause", abstract: "Stops re-issuing; a running one ends after its batch.")

    @OptionGroup var ring: KeyRingOptions
    @Option(help: "Why, for whoever reads the status.") var reason = "an operator said so"

    func run() throws {
        let ring = try ring.load()
        try Campaign(ring: ring).change("rotate pause", detail: reason) { try $0.pause(because: reason) }
        Terminal.print("\(ring.ring.name): paused")
    }
}

/// `remint rotate resume`.
struct RotateResume: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "resume", abstract: "Lets re-issuing go on.")

    @OptionGroup var ring: KeyRingOptions

    func run() throws {
        let ring = try ring.load()
        try Campaign(ring: ring).change("rotate resume") { $0.resume() }
        Terminal.print("\(ring.ring.name): not paused; go on with: remint rotate reissue")
    }
}
