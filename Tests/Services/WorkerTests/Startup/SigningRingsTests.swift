import AdapterKit
import Keyring
import Preflight
import Signing
import Testing
import WorkerConfiguration
import WorkerTestSupport

/// A limit that got lost between the file and the signer would go unnoticed: the signer would sign what it always did.
@Suite struct SigningRingsTests {
    @Test func `a ring's folder, policy and apps reach the signer`() throws {
        let folder = try TemporaryFolder()
        try KeyRings.make("\(folder.path)/here")
        let text = """
            kafka: { bootstrap_servers: 127.0.0.1:1 }
            keys:
              here:
                path: "\(folder.path)/here"
                policy: { algorithms: [HS256], longest_life: 2h, issuer: acme }
              lost: { path: "\(folder.path)/lost" }
              elsewhere: { signer: s }
            apps:
              a: { adapter: dotdigital, key: here, settings: { issuer: acme, audience: "https://a.example" } }
              b: { adapter: braze, key: elsewhere }
            """
        let source = ConfigurationSource(environment: { _ in nil }, file: { $0 == "c.yaml" ? text : nil })
        let preflight = Preflight(file: "c.yaml", registry: registry, source: source)
        let watched = try #require(preflight.configuration).watchedRings
        #expect(watched.map(\.name) == ["here", "lost"])
        #expect(watched.map(\.path) == ["here", "lost"].map { "\(folder.path)/\($0)" })
        #expect(watched.map { $0.uses.map(\.algorithm) } == [[.hs256], []])
        let served = preflight.servedRings
        #expect(served.map(\.ring.name) == ["here"])
        #expect(served.first?.folder.path == "\(folder.path)/here")
        let policy = try #require(served.first?.policy)
        #expect(policy.algorithms == [.hs256] && policy.longestLife == .seconds(7200) && policy.issuer == "acme")
        // The app of this ring, and of no other one.
        #expect(policy.templates.count == 1)
    }
}
