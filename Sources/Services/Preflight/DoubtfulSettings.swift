import AdapterKit
import Formats
import JOSE
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

    /// Returns warnings about shared secrets of the ring `key` that were hardly copied as the vendor has them.
    static func secrets(of key: Configuration.Key) -> [Diagnostic] {
        let stored = key.path.flatMap { try? KeyRingDirectory(path: $0).storedKeys() } ?? []
        return stored.filter(\.version.state.verifies).compactMap { version, stored in
            (stored.secret?.withBytes { doubt(about: $0) }).map { doubt in
                Diagnostic(
                    .warning, at: key.place,
                    "keys.\(key.name): the shared secret of the version \(PlainName.quote(version.id)) \(doubt); compare it with the vendor's, and import the secret alone where it differs"
                )
            }
        }
    }

    /// Returns the reason to doubt a secret, without a copy of it; nil for none.
    private static func doubt(about secret: UnsafeRawBufferPointer) -> String? {
        if secret.allSatisfy({ $0 == 0 }) { return "is of zero bytes alone" }
        if let first = secret.first, secret.count > 1, "\"'`".utf8.contains(first), secret.last == first {
            return "is in quotes, which are a part of it"
        }
        let name = secret.prefix { (0x41...0x5A).contains($0) || (0x30...0x39).contains($0) || $0 == UInt8(ascii: "_") }
        let rest = secret.dropFirst(name.count)
        // Base64 ends in equals signs.
        let isNamed = name.count > 2 && rest.first == UInt8(ascii: "=") && rest.contains { $0 != UInt8(ascii: "=") }
        return isNamed ? "begins with NAME=, which is a part of it" : nil
    }
}
