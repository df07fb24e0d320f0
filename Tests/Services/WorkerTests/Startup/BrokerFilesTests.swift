import AdapterKit
import BrazeAdapter
import CertificateTestSupport
import Foundation
import Testing
import Worker
import WorkerConfiguration
import WorkerTestSupport

@testable import Preflight

@Suite("Files that kafka.properties names") final class BrokerFilesTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try KeyRings.make("\(folder.path)/ring", algorithm: .rs256)
    }

    private func diagnostics(_ properties: String) throws -> [String] {
        let file = "\(folder.path)/c.yaml"
        let text = """
            kafka: { bootstrap_servers: "127.0.0.1:1", properties: { \(properties) } }
            keys: { k: { path: ring } }
            apps: { shop: { adapter: braze, key: k } }
            """
        try Data(text.utf8).write(to: URL(filePath: file))
        return Preflight(
            file: file, registry: AdapterRegistry([.init(BrazeAdapter.self)]),
            source: .guarded
        ).diagnostics.filter { $0.severity == .error }.map(\.message)
    }

    private func write(_ name: String, mode: Int) throws -> String {
        let path = "\(folder.path)/\(name)"
        try Data("not looked into".utf8).write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        return path
    }

    @Test(arguments: ["ssl.key.location", "ssl.keystore.location", "sasl.kerberos.keytab"], [0o644, 0o660, 0o604])
    func `a secret that others can use is refused, whether it is used or not`(_ name: String, _ mode: Int) throws {
        let path = try write("secret", mode: mode)
        let complaint =
            "\(path) has mode \(String(mode, radix: 8)), so others than its owner can use it; run: chmod 600 \(path)"
        for scheme in ["PLAINTEXT", "SASL_SSL"] {
            #expect(
                try diagnostics("security.protocol: \(scheme), sasl.mechanism: GSSAPI, \(name): \(path)") == [complaint]
            )
        }
    }

    @Test(arguments: ["ssl.ca.location", "ssl.certificate.location", "ssl.crl.location"])
    func `a file that decides who is believed must not be writable by others`(_ name: String) throws {
        let path = try write("pem", mode: 0o664)
        #expect(
            try diagnostics("security.protocol: SSL, \(name): \(path)") == [
                "\(path) has mode 664, so others than its owner can use it; run: chmod 644 \(path)"
            ])
    }

    @Test(arguments: ["ssl.key.location", "ssl.certificate.location", "ssl.ca.location", "ssl.keystore.location"])
    func `a file that is missing is reported once, with its remedy, where it is used`(_ name: String) throws {
        let path = "\(folder.path)/nowhere"
        #expect(
            try diagnostics("security.protocol: ssl, \(name): \(path)") == [
                "\(path) cannot be opened: No such file or directory; fix the path or put the file there"
            ])
        // librdkafka wants its password beside a keystore, whatever the protocol is.
        if name != "ssl.keystore.location" {
            #expect(try diagnostics("security.protocol: plaintext, \(name): \(path)") == [])
        }
    }

    @Test func `a folder is no key, and may be a folder of authorities`() throws {
        #expect(
            try diagnostics("security.protocol: ssl, ssl.key.location: \(folder.path)") == [
                "\(folder.path) is not a file"
            ])
        #expect(try diagnostics("security.protocol: ssl, ssl.ca.location: \(folder.path)") == [])
    }

    @Test func `a key in the place of its file's name is not repeated`() throws {
        let found = try diagnostics(
            #"security.protocol: ssl, ssl.key.location: "-----BEGIN PRIVATE KEY-----\nhunter2\n-----END PRIVATE KEY-----""#
        )
        #expect(
            found == ["ssl.key.location must name a file; write what it holds to a file, of mode 600 where it is a key"]
        )
    }

    @Test func `sound files of modes 600 and 644 are accepted`() async throws {
        let certificates = try Certificates()
        try await certificates.make("authority")
        try await certificates.make("client", signedBy: "authority")
        let (key, certificate) = (certificates.path("client.key"), certificates.path("client.pem"))
        #expect(
            try diagnostics(
                "security.protocol: ssl, ssl.key.location: \(key), ssl.certificate.location: \(certificate), ssl.ca.location: \(certificates.path("authority.pem"))"
            ) == [])
    }
}
