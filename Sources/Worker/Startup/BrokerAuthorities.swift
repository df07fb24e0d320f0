import JOSE
import WorkerConfiguration

/// The file of the authorities that the brokers' certificates are checked against, which librdkafka reads without a look at who can
/// write it.
enum BrokerAuthorities {
    /// The complaint about a file that others could change. A folder, and a file that is not there, are librdkafka's to judge.
    static func diagnostics(for configuration: Configuration) -> [Diagnostic] {
        configuration.kafka.properties.filter { $0.name == "ssl.ca.location" }.compactMap { property in
            GuardedFile.exposure(of: property.value, .instructions).map {
                Diagnostic(.error, at: property.place, "\(property.value) \($0)")
            }
        }
    }
}
