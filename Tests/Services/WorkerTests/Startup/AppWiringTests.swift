import AdapterKit
import BrazeAdapter
@_spi(Decryption) import JOSE
import Pipeline
import Testing
import WorkerConfiguration

@testable import Wiring
@testable import Worker

/// An option that got lost between the file and the pipeline would go unnoticed: tokens in the clear look as they always did.
@Suite struct AppWiringTests {
    @Test func `an app's seal and publication reach the pipeline`() throws {
        let key = try JWEDecryptionKey.generate(.ecdhESA256KW, keyID: "pickup-1")
        let jwk = String(decoding: try key.recipient.publicJSON(), as: UTF8.self)
        let text = """
            kafka: { bootstrap_servers: 127.0.0.1:1 }
            keys: { k: { path: ring } }
            apps:
              sealed: { adapter: braze, key: k, seal: r.jwk }
              handed: { adapter: braze, key: k, publish: centrifugo }
              plain: { adapter: braze, key: k }
            """
        let source = ConfigurationSource(environment: { _ in nil }, file: { ["c.yaml": text, "r.jwk": jwk][$0] })
        let (found, diagnostics) = ConfigurationReader(
            registry: AdapterRegistry([.init(BrazeAdapter.self)]), source: source
        ).read("c.yaml")
        let configuration = try #require(found, "\(diagnostics)")
        let apps = configuration.apps.map { Pipeline.App($0) }
        #expect(apps.map(\.name) == ["sealed", "handed", "plain"])
        #expect(apps.map { $0.seal?.keyID } == ["pickup-1", nil, nil])
        #expect(apps.map(\.publication) == [.none, .centrifugo, .none])
    }
}
