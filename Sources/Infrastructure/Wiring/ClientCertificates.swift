package import AdapterKit
import JOSE
import Kafka
import NIOSSL
package import WorkerConfiguration

/// The files, or the folder of authorities, that librdkafka reads once for each client and never again: certificates and keys of
/// TLS, as `kafka.properties` name them by location.
package struct ClientCertificates: Sendable {
    /// The revisions of the files at one look, in the order of the configuration; nil for a file that does not exist.
    typealias Revisions = [FileRevision?]

    private let paths: [String]
    /// The client's own chain; nil where it shows none.
    private let chain: String?
    private let configuration: Configuration

    /// The files of `configuration`; nil where it names none.
    package init?(_ configuration: Configuration) {
        let properties = configuration.kafka.properties
        paths = properties.filter { Self.names.contains($0.name) }.map(\.value)
        chain = properties.first { $0.name == "ssl.certificate.location" }?.value
        self.configuration = configuration
        if paths.isEmpty { return nil }
    }

    private static let names: Set<String> = [
        "ssl.ca.location", "ssl.certificate.location", "ssl.crl.location", "ssl.key.location", "ssl.keystore.location",
    ]

    var revisions: Revisions { paths.map { FileRevision(of: $0) } }

    /// The reason why no client can be made with the files, such as a certificate of another key, or a file that other accounts can
    /// change; nil if one can. The check blocks a thread for some milliseconds.
    var problem: String? {
        BrokerFiles.diagnostics(for: configuration).first?.message
            ?? KafkaProperties(configuration, bootstrapServers: configuration.kafka.bootstrapServers).producer
            .refusal(of: .producer)
    }

    /// The expiry of the client's own certificate; nil if it has none.
    package var end: UnixTime? {
        let certificates = chain.flatMap { try? NIOSSLCertificate.fromPEMFile($0) }
        return certificates?.first.map { UnixTime(seconds: Int64($0.notValidAfter)) }
    }
}

/// The files that `kafka.properties` names, which librdkafka reads without a look at who else can read or write them.
package enum BrokerFiles {
    /// The properties that name a file of secrets.
    private static let secrets: Set<String> = ["ssl.key.location", "ssl.keystore.location", "sasl.kerberos.keytab"]
    /// The properties that name a file which decides who is believed, or which code runs.
    private static let instructions: Set<String> = [
        "ssl.ca.location", "ssl.certificate.location", "ssl.crl.location", "ssl.engine.location",
    ]

    /// Returns diagnostics for files that this process cannot read, and for those that other accounts could read or
    /// change.
    package static func diagnostics(for configuration: Configuration) -> [Diagnostic] {
        let properties = configuration.kafka.properties
        let scheme = properties.last { $0.name == "security.protocol" }?.value.lowercased() ?? "plaintext"
        return properties.compactMap { property in
            let isSecret = secrets.contains(property.name)
            guard isSecret || instructions.contains(property.name) else { return nil }
            let isUsed = scheme.contains(property.name.prefix { $0 != "." })
            return complaint(property, isSecret ? .secret : .instructions, isUsed: isUsed).map {
                Diagnostic(.error, at: property.place, $0)
            }
        }
    }

    /// - Parameter isUsed: whether librdkafka opens the file at all; a file that it never opens may be missing.
    private static func complaint(
        _ property: Configuration.Property, _ content: GuardedFile.Content, isUsed: Bool
    ) -> String? {
        let path = property.value
        // If somebody put the key itself here, no log may contain it.
        guard !path.contains(where: \.isNewline), !path.hasPrefix("-----BEGIN") else {
            return "\(property.name) must name a file; write what it holds to a file, of mode 600 where it is a key"
        }
        // A folder of authorities, or the system's, are librdkafka's to judge.
        guard isUsed, content == .secret || !isFolderOrProbe(path) else {
            return GuardedFile.exposure(of: path, content).map { "\(path) \($0)" }
        }
        return GuardedFile.refusal(of: path, content).map { "\(path) \($0)" }
    }

    private static func isFolderOrProbe(_ path: String) -> Bool {
        path == "probe" || GuardedFile.isFolder(path)
    }
}
