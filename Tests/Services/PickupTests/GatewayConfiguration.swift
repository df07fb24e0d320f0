import AdapterKit
import Testing
import Vendors

@testable import WorkerConfiguration

/// A configuration of a gateway, from text alone.
enum GatewayConfiguration {
    /// Returns the configuration of the file `text`, which must be without errors.
    static func read(_ text: String) throws -> Configuration {
        let (configuration, diagnostics) = ConfigurationReader(
            registry: .remint, source: ConfigurationSource(environment: { _ in nil }, file: { _ in text })
        ).read("remint.yaml")
        try #require(!diagnostics.contains { $0.severity == .error }, "\(diagnostics)")
        return try #require(configuration)
    }
}
