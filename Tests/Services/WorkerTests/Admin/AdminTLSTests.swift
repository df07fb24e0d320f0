import AsyncTestSupport
import CertificateTestSupport
import Foundation
import ProgramTestSupport
import Telemetry
import Testing
import WorkerTestSupport

@testable import Serving
@testable import Wiring
@testable import Worker
@testable import WorkerConfiguration

/// The admin server behind its own certificate.
@Suite(.timeLimit(.minutes(5))) struct AdminTLSTests {
    private func files(_ certificates: Certificates) -> (chain: String, key: String) {
        (certificates.path("admin.pem"), certificates.path("admin.key"))
    }

    @Test func `an admin server behind TLS answers clients that trust its authority, and its own page alone`()
        async throws
    {
        let certificates = try Certificates()
        try await certificates.make("authority")
        try await certificates.make("admin", signedBy: "authority")
        let log = RecordingLog()
        var server = AdminServer(
            address: .init(host: "127.0.0.1", port: 0), status: WorkerStatus(), metrics: MetricsRegistry(),
            reporter: StatusReporter(), logger: log.logger())
        server.tls = try ServerCertificate.load(files(certificates), named: "admin.tls").configuration
        let running = Task { [server] in try await server.run() }
        let address = await log.line(event: "admin.listening").metadata["remint.admin.address"] ?? ""
        let port = address.split(separator: ":").last.map(String.init) ?? ""
        func curl(_ arguments: [String]) async throws -> Program {
            try await Program.run(
                "curl", ["-s", "--noproxy", "*", "-o", "/dev/null", "-w", "%{http_code}"] + arguments)
        }
        let known = ["--cacert", certificates.path("authority.pem"), "https://localhost:\(port)/status"]
        #expect(try await curl(known).outputText == "200")
        #expect(try await curl(["-H", "Origin: https://localhost:\(port)"] + known).outputText == "200")
        #expect(try await curl(["-H", "Origin: http://localhost:\(port)"] + known).outputText == "403")
        #expect(try await curl(["https://localhost:\(port)/status"]).status == 60, "nobody vouches for it")
        #expect(try await curl(["http://localhost:\(port)/status"]).status != 0, "nothing in plain text")
        running.cancel()
        _ = await running.result
    }

    @Test func `a key that others can read, and what is no certificate or key, are refused by name`() async throws {
        let certificates = try Certificates()
        try await certificates.make("admin")
        let files = files(certificates)
        func message(_ files: (chain: String, key: String)) -> String {
            do throws(WorkerError) {
                _ = try ServerCertificate.load(files, named: "admin.tls")
                return ""
            } catch { return error.description }
        }
        #expect(message(files) == "")
        #expect(message((files.key, files.key)).hasPrefix("admin.tls.certificate: there is no certificate"))
        #expect(message((files.chain, files.chain)).hasPrefix("admin.tls.key: "))
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: files.key)
        #expect(message(files).hasPrefix("admin.tls.key: \(files.key) "))
    }
}
