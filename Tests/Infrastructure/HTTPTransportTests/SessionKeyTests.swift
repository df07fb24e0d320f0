import Access
import AdapterKit
import AsyncTestSupport
import BrazeAdapter
import CertificateTestSupport
import Foundation
import HTTPTransport
import JOSE
import Logging
import ProgramTestSupport
import Testing
import WorkerConfiguration

@testable import Pickup

@Suite("The session issuer's keys", .timeLimit(.minutes(5))) struct SessionKeyTests {
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
            let line = await log.line(event: TransportUser.sessionKeys.events.failed)
            #expect(line.metadata["remint.detail"]?.contains("chmod 644 \(path)") == true, "\(line)")
            #expect(await !answer(source))
        }
        running.cancel()
        await running.value
    }

    @Test func `an issuer that withdraws its only key is reported as that, once, and no key of its counts any more`()
        async throws
    {
        let folder = try TemporaryFolder()
        let path = folder.url.appending(path: "jwks.json").path
        func publish(_ text: String) throws { try Data(text.utf8).write(to: URL(filePath: path), options: .atomic) }
        try publish(TransportUser.sessionKeys.body)
        var session = Configuration.Pickup.Session()
        session.keySet = path
        session.coolDown = .milliseconds(1)
        let log = RecordingLog()
        let source = KeySourceFile(session, logger: log.logger())
        let running = Task { await source.run() }
        try await eventually("the key") { await answer(source) }
        try publish(#"{"keys":[]}"#)
        // Somebody shows a key that is not known, so that the set is fetched again.
        try await eventually("the withdrawal") {
            _ = await source.keys.keys(for: "k2")
            return source.keys.condition.lacksKeys
        }
        #expect(await !answer(source))
        let line = await log.line(event: "session-keys.unusable")
        #expect(line.level == .error)
        #expect(
            line.metadata["remint.detail"]?.contains("no public signing key for RS256, PS256, ES256, EdDSA") == true)
        #expect(log.lines.count { $0.event == TransportUser.sessionKeys.events.failed } == 0)
        try publish(TransportUser.sessionKeys.body)
        try await eventually("the key again") { await answer(source) }
        _ = await log.line(event: "session-keys.usable")
        #expect(log.lines.count { $0.event == "session-keys.unusable" } == 1)
        #expect(log.lines.count { $0.event == TransportUser.sessionKeys.events.recovered } == 0)
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
        let found = PickupService.diagnostics(for: try configuration(keySet: path)).map(\.message)
        #expect(found.count == (complaint == nil ? 0 : 1), "\(found)")
        #expect(complaint.map { found.first?.contains($0) == true } ?? true, "\(found)")
    }

    private func configuration(keySet path: String) throws -> Configuration {
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
        return try #require(read, "\(diagnostics)")
    }

    @Test(
        arguments: [
            (
                #"{"keys":[]}"#,
                "no public signing key for RS256, PS256, ES256, EdDSA; add the issuer's key to the key set, or its algorithm to pickup.session.algorithms"
            ),
            (
                TransportUser.sessionKeys.body.replacing(#""kid":"k1""#, with: #""kid":"k1","use":"enc""#),
                "no public signing key for"
            ),
            ("<html>", "not a JWK Set: an object with an array \"keys\"; write the issuer's JWK Set to the file"),
        ])
    func `the check of a configuration names a key set without a usable key, and a reload does not`(
        _ document: String, _ complaint: String
    ) throws {
        let folder = try TemporaryFolder()
        let path = folder.url.appending(path: "jwks.json").path
        try Data(document.utf8).write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
        let configuration = try configuration(keySet: path)
        let found = PickupService.diagnostics(for: configuration).map(\.message)
        #expect(
            found.count == 1 && found.first?.hasPrefix("pickup.session.jwks: \(path): \(complaint)") == true, "\(found)"
        )
        #expect(PickupFiles.reloadDiagnostics(for: configuration).isEmpty)
    }
}
