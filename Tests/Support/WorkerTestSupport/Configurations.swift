package import AdapterKit
import BrazeAdapter
import DotdigitalAdapter
package import Logging
import Testing
package import WorkerConfiguration

package let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

/// Long enough for a loaded machine; a test that needs it has failed.
package let patience = Duration.seconds(240)

package let registry = AdapterRegistry([.init(BrazeAdapter.self), .init(DotdigitalAdapter.self)])

package func readConfiguration(_ text: String) throws -> Configuration {
    let source = ConfigurationSource(environment: { _ in nil }, file: { $0 == "c.yaml" ? text : nil })
    let (configuration, diagnostics) = ConfigurationReader(registry: registry, source: source).read("c.yaml")
    return try #require(configuration, "\(diagnostics)")
}

/// Returns the configuration of a worker on a test's embedded broker.
///
/// - Parameters:
///   - kafka: more lines of `kafka.properties`, among them perhaps a longer session.
///   - more: more sections.
package func workerConfiguration(
    brokers: String, kafka: [String] = [], ring: String = "ring", more: String = ""
) -> String {
    let isGiven = kafka.contains { $0.hasPrefix("session.timeout.ms:") }
    let lines = (isGiven ? [] : ["session.timeout.ms: 6000"]) + kafka
    return """
        kafka:
          bootstrap_servers: \(brokers)
          properties:
            heartbeat.interval.ms: 500
            fetch.wait.max.ms: 10
            reconnect.backoff.ms: 10
            reconnect.backoff.max.ms: 100
            retry.backoff.ms: 20
        \(lines.map { "    \($0)\n" }.joined())
        keys: { push: { path: "\(ring)" } }
        apps:
          push: { adapter: dotdigital, key: push, settings: { issuer: acme, audience: "https://push.example" } }
        \(more)
        """
}
