import AdapterKit
import Formats
import Keyring
import WorkerConfiguration

/// Settings that a worker can start with and that are hardly meant.
enum DoubtfulSettings {
    /// The properties of librdkafka that are secrets.
    private static let secrets: Set<String> = [
        "sasl.password", "sasl.oauthbearer.client.secret", "ssl.key.password", "ssl.key.pem", "ssl.keystore.password",
    ]

    /// Returns warnings about secrets in the configuration's own file, and about rings that no app uses.
    static func diagnostics(of configuration: Configuration) -> [Diagnostic] {
        let literal = configuration.kafka.properties.filter { $0.isLiteral && secrets.contains($0.name) }.map {
            Diagnostic(
                .warning, at: $0.place,
                "kafka.properties \($0.name) is a secret in the configuration's file; move it to a file of mode 600 and write \($0.name)_file: PATH"
            )
        }
        // A signer's configuration may have rings alone.
        guard !configuration.apps.isEmpty else { return literal }
        let unused = configuration.keys.filter { key in !configuration.apps.contains { $0.key == key.name } }.map {
            Diagnostic(
                .warning, at: $0.place, "keys.\($0.name) is the key of no app; name it in apps.*.key, or remove it")
        }
        return literal + unused
    }
}
