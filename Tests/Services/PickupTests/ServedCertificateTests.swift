import AdapterKit
import CertificateTestSupport
import Foundation
import Testing
import Wiring

@testable import Pickup
@testable import Serving
@testable import WorkerConfiguration

/// The certificate of a server, and its replacement while the gateway runs.
@Suite(.timeLimit(.minutes(5))) struct ServedCertificateTests {
    private typealias Certificates = CertificateTestSupport.Certificates

    private static var now: UnixTime { UnixTime(seconds: Int64(Date.now.timeIntervalSince1970) + 1) }

    private static func copy(_ file: String, to other: String, _ certificates: Certificates) throws {
        let target = URL(filePath: certificates.path(other))
        try Data(contentsOf: URL(filePath: certificates.path(file))).write(to: target)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: target.path)
    }

    @Test func `a certificate without its key, and one that is not valid yet, are refused with the fix`() async throws {
        let certificates = try Certificates()
        try await certificates.make("admin")
        try await certificates.make("other")
        let (chain, key) = (certificates.path("admin.pem"), certificates.path("admin.key"))
        func load(_ key: String, at now: UnixTime) throws(WorkerError) -> ServerCertificate {
            try ServerCertificate.load((chain, key), named: "admin.tls", at: now)
        }
        let now = Self.now
        #expect(try load(key, at: now).end > now)
        let strange = #expect(throws: WorkerError.self) { try load(certificates.path("other.key"), at: now) }
        #expect(strange?.description.contains("is not the key of the first certificate in \(chain)") == true)
        let early = #expect(throws: WorkerError.self) { try load(key, at: now.advanced(bySeconds: -864_000)) }
        #expect(early?.description.contains("admin.tls.certificate: \(chain) is not valid before") == true)
    }

    @Test func `a certificate that was replaced without its key leaves the pair before in use, with its own end`()
        async throws
    {
        let certificates = try Certificates()
        try await certificates.make("authority")
        try await certificates.makeExpired("served", signedBy: "authority")
        try await certificates.make("next", signedBy: "authority")
        let text = """
            kafka: { bootstrap_servers: 127.0.0.1:1 }
            keys: { shop: { path: keys/shop } }
            apps: { ios: { adapter: braze, key: shop } }
            pickup:
              listen: 127.0.0.1:8443
              tls: { certificate: '\(certificates.path("served.pem"))', key: '\(certificates.path("served.key"))' }
              session: { issuer: https://login.example, jwks: https://login.example/jwks }
            """
        let pickup = try #require(try GatewayConfiguration.read(text).pickup)
        let served = try #require(try ServedCertificate(pickup))
        let (now, end) = (Self.now, served.end)
        #expect(end < now)
        try Self.copy("next.pem", to: "served.pem", certificates)
        let error = #expect(throws: PickupError.self) { try served.reload() }
        #expect(error?.description.contains("pickup.tls.key: ") == true)
        #expect(served.end == end, "readiness reports the certificate that devices see")
        try Self.copy("next.key", to: "served.key", certificates)
        try served.reload()
        #expect(served.end > now)
    }
}
