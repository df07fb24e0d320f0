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

    /// The files as they are now.
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
