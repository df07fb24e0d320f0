import Access
import AdapterKit
import AsyncTestSupport
import BrazeAdapter
import CertificateTestSupport
import Foundation
import HTTPTransport
import JOSE
import ProgramTestSupport
import Testing
import WorkerConfiguration

@testable import Pickup

@Suite("The session issuer's keys", .timeLimit(.minutes(10))) struct SessionKeyTests {
    private func answer(_ source: KeySourceFile) async -> Bool {
        if case .keys = await source.keys.keys(for: "k1", after: nil) { true } else { false }
    }

    @Test func `a body that stalls ends its fetch, and sessions signed with a new key are served after it`()
        async throws
    {
        let certificates = try await TestCertificates.ofLocalhost()
        let server = try await FaultyServer.start(
            certificates, fault: .stall, body: TransportUser.sessionKeys.body)
        var session = Configuration.Pickup.Session()
        session.keySet = "\(server.url)/jwks.json"
        let log = RecordingLog()
        let source = KeySourceFile(
            session, timeout: .milliseconds(500),
            trusting: try .init(file: certificates.path("authority.pem")), logger: log.logger())
        let running = Task { await source.run() }
        try await eventually("a fetch") { server.requests > 0 }
        // Whoever asks meanwhile waits for the fetch, and no longer.
        _ = await answer(source)
        server.fault = nil
        try await eventually("the key") { await answer(source) }
        running.cancel()
        await running.value
        await server.stop()
    }

    @Test(arguments: [(0o666, false), (0o664, false), (0o644, true), (0o600, true)])
    func `a file that others can change is not believed, and one that they can read is`(_ mode: Int, _ isBelieved: Bool)
        async throws
    {
        let folder = try TemporaryFolder()
        let path = folder.url.appending(path: "jwks.json").path
        try Data(TransportUser.sessionKeys.body.utf8).write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        var session = Configuration.Pickup.Session()
        session.keySet = path
        let log = RecordingLog()
        let source = KeySourceFile(session, logger: log.logger())
        let running = Task { await source.run() }
        if isBelieved {
            try await eventually("the key") { await answer(source) }
        } else {
            let line = await log.line(TransportUser.sessionKeys.lines.failed)
            #expect(line.metadata["remint.detail"]?.contains("chmod 644 \(path)") == true, "\(line)")
            #expect(await !answer(source))
        }
        running.cancel()
        await running.value
    }

    @Test(arguments: [(0o666, "run: chmod 644"), (nil, "cannot be opened"), (0o644, nil)] as [(Int?, String?)])
    func `the check of a configuration names a key set that cannot be believed`(_ mode: Int?, _ complaint: String?)
        throws
    {
        let folder = try TemporaryFolder()
        let path = folder.url.appending(path: "jwks.json").path
        if let mode {
            try Data(TransportUser.sessionKeys.body.utf8).write(to: URL(filePath: path))
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        }
        let text = """
            kafka: { bootstrap_servers: 127.0.0.1:1 }
            keys: { k: { path: k } }
            apps: { a: { adapter: braze, key: k } }
            pickup:
              listen: '127.0.0.1:8080'
              session: { issuer: 'https://login.example', jwks: '\(path)' }
              apps: { a: { issuer: 'https://login.example' } }
            """
        let reader = ConfigurationReader(
            registry: AdapterRegistry([.init(BrazeAdapter.self)]),
            source: ConfigurationSource(environment: { _ in nil }, file: { $0 == "c.yaml" ? text : nil }))
        let (read, diagnostics) = reader.read("c.yaml")
        let configuration = try #require(read, "\(diagnostics)")
        let found = PickupService.diagnostics(for: configuration).map(\.message)
        #expect(found.count == (complaint == nil ? 0 : 1), "\(found)")
        #expect(complaint.map { found.first?.contains($0) == true } ?? true, "\(found)")
    }
}
