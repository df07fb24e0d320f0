import AdapterKit
import BrazeAdapter
import CertificateTestSupport
import Foundation
@_spi(Decryption) import JOSE
import Keyring
import Testing
import WorkerConfiguration
import WorkerTestSupport

@testable import Preflight

extension ConfigurationSource {
    /// Files as a program reads them, without an environment.
    static var guarded: ConfigurationSource {
        var source = ConfigurationSource(environment: { _ in nil }, file: { _ in nil })
        (source.file, source.secret) = (guardedFile, guardedSecret)
        return source
    }
}

@Suite("Files on which trust rests") final class TrustedFileTests {
    private let folder: TemporaryFolder

    init() async throws {
        folder = try TemporaryFolder()
        for name in ["vendors", "seals", "certificates"] {
            try FileManager.default.createDirectory(atPath: "\(folder.path)/\(name)", withIntermediateDirectories: true)
        }
        try KeyRings.make("\(folder.path)/keys/ring", algorithm: .rs256)
        let recipient = try JWEDecryptionKey.generate(.ecdhESA256KW, keyID: "pickup-1").recipient.publicJSON()
        let certificates = try Certificates()
        try await certificates.make("admin")
        let vendor = URL(filePath: #filePath).appending(path: "../../../../../adapters/declared/knock.yaml")
            .standardizedFileURL
        let text = """
            kafka: { bootstrap_servers: "127.0.0.1:1" }
            keys: { k: { path: keys/ring } }
            apps: { shop: { adapter: vendors/chat.yaml, key: k, identity: vouched, seal: seals/recipient.jwk } }
            admin:
              listen: 127.0.0.1:9464
              tls: { certificate: certificates/admin.pem, key: certificates/admin.key }
            """
        for (name, content) in [
            ("remint.yaml", Data(text.utf8)), ("vendors/chat.yaml", try Data(contentsOf: vendor)),
            ("seals/recipient.jwk", Data(recipient)),
            ("certificates/admin.pem", try Data(contentsOf: URL(filePath: certificates.path("admin.pem")))),
            ("certificates/admin.key", try Data(contentsOf: URL(filePath: certificates.path("admin.key")))),
        ] {
            try content.write(to: URL(filePath: "\(folder.path)/\(name)"))
            try #require(chmod("\(folder.path)/\(name)", 0o600) == 0)
        }
    }

    private var errors: [String] {
        let preflight = Preflight(
            file: "\(folder.path)/remint.yaml", registry: AdapterRegistry([.init(BrazeAdapter.self)]),
            source: .guarded)
        return (preflight.diagnostics + preflight.notices(at: UnixTime(seconds: Int64(Date.now.timeIntervalSince1970))))
            .filter { $0.severity == .error }.map(\.description)
    }

    @Test func `a file that other accounts can change, or a folder of it, is an error that names the fix`() throws {
        #expect(errors == [])
        let files = [
            "remint.yaml", "vendors/chat.yaml", "seals/recipient.jwk", "certificates/admin.pem",
            "keys/ring/keyring.json", "keys/ring/audit.log",
        ]
        for file in files {
            let parts = file.split(separator: "/")
            for count in 0...parts.count {
                let path = ([folder.path] + parts.prefix(count).map(String.init)).joined(separator: "/")
                let (mode, fix) = count == parts.count ? (0o600, "chmod 644") : (0o755 as mode_t, "chmod go-w")
                try #require(chmod(path, mode | 0o022) == 0)
                #expect(errors.contains { $0.contains("\(fix) \(path)") }, "\(path): \(errors)")
                try #require(chmod(path, mode) == 0)
            }
        }
        #expect(errors == [])
    }
}
