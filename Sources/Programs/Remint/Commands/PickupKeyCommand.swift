import Access
import ArgumentParser
import JOSE

/// `remint pickup-key`: an API key for a trusted backend.
struct PickupKeyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pickup-key",
        abstract: "Makes an API key for the gateway, and the key's hash for the gateway's configuration.",
        discussion: .help(
            """
            The command prints the key once, on standard output. It prints the line for pickup.api_keys on standard
            error.
            """,
            examples: """
                remint pickup-key orders
                remint pickup-key orders > orders.key
                """))

    @Argument(help: "Name of the backend, for logs and metrics.") var name: String

    func run() throws {
        let key = try APIKey.generate(random: SecretBytes.random(count:))
        Terminal.error("api_keys: { \(name): { hash: \(key.hash) } }")
        Terminal.print(key.text.withBytes { String(decoding: $0, as: UTF8.self) })
    }
}
