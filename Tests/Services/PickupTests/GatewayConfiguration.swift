import AdapterKit
import Testing
import Vendors

@testable import WorkerConfiguration

/// A configuration of a gateway, from text alone.
enum GatewayConfiguration {
    /// Returns the configuration of the file `text`, which must be without errors. Its apps may name `vendor.yaml`, whose text
    /// is `vendor`.
    static func read(_ text: String, vendor: String = "") throws -> Configuration {
        let source = ConfigurationSource(
            environment: { _ in nil }, file: { $0.hasSuffix("vendor.yaml") ? vendor : text })
        let (configuration, diagnostics) = ConfigurationReader(registry: .remint, source: source).read("remint.yaml")
        try #require(!diagnostics.contains { $0.severity == .error }, "\(diagnostics)")
        return try #require(configuration)
    }
}
