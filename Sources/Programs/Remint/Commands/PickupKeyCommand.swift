import Access
import ArgumentParser
import JOSE

/// `remint pickup-key`: an API key for a trusted backend.
struct PickupKeyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pickup-key",
        abstract: "Makes an API key for the gateway, and the hash that its configuration keeps.",
        discussion: .help(
            "The key is shown once, on standard output; the line for pickup.api_keys goes to standard error.",
            examples: """
                remint pickup-key orders
                remint pickup-key orders > orders.key
                """))

    @Argument(help: "What logs and metrics call the backend.") var name: String

    func run() throws {
        let key = try APIKey.generate(random: SecretBytes.random(count:))
        Terminal.error("api_keys: { \(name): { hash: \(key.hash) } }")
        Terminal.print(key.text.withBytes { String(decoding: $0, as: UTF8.self) })
    }
}
