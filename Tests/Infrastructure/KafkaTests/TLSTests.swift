import CertificateTestSupport
import Foundation
import Kafka
import Testing

@Suite(.timeLimit(.minutes(5))) struct TLSTests {
    /// Certificates of a good server, of one for another host, and of an authority nobody knows.
    private func makeCertificates() async throws -> Certificates {
        let certificates = try Certificates()
        try await certificates.make("authority")
        try await certificates.make("localhost", signedBy: "authority")
        try await certificates.make("elsewhere", host: "broker.example", signedBy: "authority")
        try await certificates.make("stranger")
        try await certificates.make("client", signedBy: "authority")
        return certificates
    }

    private func properties(_ certificates: Certificates, _ server: TLSServer, authority: String) -> ClientProperties {
        [
            "bootstrap.servers": "localhost:\(server.port)", "broker.address.family": "v4", "security.protocol": "ssl",
            "ssl.ca.location": certificates.path("\(authority).pem"), "group.id": "g",
        ]
    }

    @Test func `a client completes the handshake with a server its authority signed`() async throws {
        let certificates = try await makeCertificates()
        let server = try await TLSServer(certificates)
        defer { server.stop() }
        let consumer = try KafkaConsumer(
            properties(certificates, server, authority: "authority"), topics: ["t"], logger: silent)
        let line = await server.line(beginning: "CIPHER is ")
        #expect(line?.contains("TLS_") == true)
        #expect(await consumer.close(within: patience))
    }

    @Test func `a client shows its certificate to a server that asks`() async throws {
        let certificates = try await makeCertificates()
        let server = try await TLSServer(
            certificates, arguments: ["-Verify", "1", "-verify_return_error", "-CAfile", "authority.pem"])
        defer { server.stop() }
        let client = properties(certificates, server, authority: "authority").merging([
            "ssl.certificate.location": certificates.path("client.pem"),
            "ssl.key.location": certificates.path("client.key"),
        ])
        let consumer = try KafkaConsumer(client, topics: ["t"], logger: silent)
        #expect(await server.line(beginning: "subject=CN = client") != nil)
        #expect(await server.line(beginning: "CIPHER is ") != nil)
        #expect(await consumer.close(within: patience))
    }

    @Test(arguments: [("localhost", "stranger"), ("elsewhere", "authority")])
    func `a client refuses a server of an unknown authority, or for another host`(
        server name: String, authority: String
    )
        async throws
    {
        let certificates = try await makeCertificates()
        let server = try await TLSServer(certificates, name: name)
        defer { server.stop() }
        let consumer = try KafkaConsumer(
            properties(certificates, server, authority: authority), topics: ["t"], logger: silent)
        let error = try await error(of: consumer)
        #expect(error.message.contains("certificate"))
        #expect(!error.isFatal)
        #expect(await consumer.close(within: patience))
    }
}
