import AdapterKit
import CertificateTestSupport
import Foundation
import Testing
import WorkerConfiguration
import WorkerTestSupport

@testable import Preflight

/// The ends of the certificates that a configuration names, in `remint check`.
@Suite struct CertificateEndTests {
    private static func notices(_ certificate: String, _ key: String, at now: UnixTime) throws -> [Diagnostic] {
        let folder = try TemporaryFolder()
        try KeyRings.make("\(folder.path)/ring")
        let text = workerConfiguration(
            brokers: "127.0.0.1:1",
            kafka: ["security.protocol: SSL", "ssl.certificate.location: \(certificate)", "ssl.key.location: \(key)"],
            ring: "\(folder.path)/ring",
            more: "admin: { listen: \"127.0.0.1:0\", tls: { certificate: \(certificate), key: \(key) } }")
        let source = ConfigurationSource(environment: { _ in nil }, file: { $0 == "c.yaml" ? text : nil })
        return Preflight(file: "c.yaml", registry: registry, source: source).notices(at: now)
            .filter { $0.message.contains("the certificate") }
    }

    @Test func `a certificate that ends within 30 days is a warning, and an expired one an error`() async throws {
        let certificates = try Certificates()
        try await certificates.make("authority")
        try await certificates.make("near", signedBy: "authority")
        try await certificates.makeExpired("over", signedBy: "authority")
        let now = UnixTime(seconds: Int64(Date.now.timeIntervalSince1970))
        let near = try Self.notices(certificates.path("near.pem"), certificates.path("near.key"), at: now)
        #expect(near.map(\.severity) == [.warning, .warning])
        #expect(near.first?.message.hasPrefix("ssl.certificate.location: the certificate expires at ") == true)
        #expect(near.last?.message.hasPrefix("admin.tls.certificate: the certificate expires at ") == true)
        let over = try Self.notices(certificates.path("over.pem"), certificates.path("over.key"), at: now)
        #expect(over.map(\.severity) == [.error, .error])
        #expect(over.first?.message.contains("expired at 2020-02-01T00:00:00Z") == true)
    }
}
