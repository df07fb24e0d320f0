import CommandTestSupport
import Foundation
@_spi(Signing) import JOSE
import Keyring
import ProgramTestSupport

/// A folder with a configuration in which `remint check` finds nothing, for tests to add one mistake to.
struct HealthyConfiguration: ~Copyable {
    /// The configuration's name in the folder.
    static let file = "remint.yaml"
    /// The environment that the configuration reads.
    static let environment = ["SHOP_BROKERS": "broker.example:9093"]
    /// A secret that no finding may repeat.
    static let secret = "hunter2"

    private static let text = """
        kafka:
          bootstrap_servers: ${SHOP_BROKERS}
          group: shop
          properties:
            security.protocol: sasl_ssl
            sasl.mechanism: SCRAM-SHA-512
            sasl.username: shop
            sasl.password_file: secrets/kafka
        topics:
          tokens: shop.tokens
        keys:
          braze: { path: keys/braze }
          push: { path: keys/push }
        apps:
          ios:
            adapter: braze
            key: braze
            identity: vouched
            lifetime: 12h
            lookup:
              mode: verify
              endpoint: https://rest.fra-01.braze.eu
              key_file: secrets/braze
          web:
            adapter: onesignal
            key: push
            identity: vouched
            seal: recipient.jwk
            settings:
              app_id: 0f0f0f0f-1111-2222-3333-444444444444
        worker:
          retries:
            tiers: [10s, 1m]
        admin:
          listen: 127.0.0.1:9464
        pickup:
          listen: 127.0.0.1:8080
          trusted_proxies: [10.0.0.0/8]
          session:
            issuer: https://login.example.com
            audience: shop
            jwks: jwks.json
          apps:
            ios: { issuer: https://login.example.com }
        log:
          level: info

        """

    /// A public key for signatures and for seals (RFC 7517, appendix A.1).
    private static let publicKey =
        #""kty":"EC","crv":"P-256","x":"MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4","y":"4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM","kid":"1""#

    private let temporary: TemporaryFolder

    /// The folder. It also has the ring `keys/spare`, of a kind that Braze does not accept, which the configuration does not name.
    var folder: URL { temporary.url }

    private init(in temporary: consuming TemporaryFolder) { self.temporary = temporary }

    /// Writes the configuration, its keys and its files to a folder of its own.
    static func make() throws -> HealthyConfiguration {
        let healthy = HealthyConfiguration(in: try TemporaryFolder())
        try healthy.writeAll()
        return healthy
    }

    private func writeAll() throws {
        try write(Self.text, Self.file)
        try write("{\"keys\":[{\(Self.publicKey),\"alg\":\"ES256\"}]}", "jwks.json")
        try write("{\(Self.publicKey),\"alg\":\"ECDH-ES+A256KW\"}", "recipient.jwk")
        try write(Self.secret, "secrets/kafka", mode: 0o600)
        try write(Self.secret, "secrets/braze", mode: 0o600)
        for (ring, key) in try Self.keys.get() {
            let directory = KeyRingDirectory(path: folder.appending(path: "keys/\(ring)").path)
            try directory.makeFolder()
            try directory.create(key, id: "k1", secretEncoding: nil, at: UnixTime(seconds: 1_700_000_000))
        }
    }

    /// The keys of the rings, made once for all tests: an RSA key takes longer than a check.
    private static let keys = Result {
        try [("braze", Algorithm.rs256), ("push", .es256), ("spare", .es256)].map { ring, algorithm in
            (ring: ring, key: try SigningKey.generate(algorithm, keyID: "k1"))
        }
    }

    /// Runs `remint check` in the folder.
    func check() async throws -> Command {
        try await Command.remint(["check", "--config", Self.file], directory: folder, environment: Self.environment)
    }

    private func write(_ text: String, _ name: String, mode: Int = 0o644) throws {
        let file = folder.appending(path: name)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
    }
}
