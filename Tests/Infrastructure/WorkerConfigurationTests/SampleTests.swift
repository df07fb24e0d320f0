import AdapterKit
import Foundation
import ProgramTestSupport
import Testing
import WorkerConfiguration

@Suite("Configurations that are right")
struct SampleTests {
    /// A file with the keys that most have.
    static let usual = """
        kafka:
          bootstrap_servers: 127.0.0.1:9092
          group: remint
          properties: {}                    # any librdkafka property: TLS, SASL, …
        delivery: exactly_once              # or at_least_once
        topics: {}                          # other names
        keys:
          shop-braze:     { path: keys/shop-braze }
          shop-infobip:   { path: keys/shop-infobip }
        apps:
          shop-ios:
            adapter: braze
            key: shop-braze
            lifetime: 12h
            settings: {}                    # the adapter's own
            lookup: { mode: off }           # off | verify | enrich
        worker:
          batch: { events: 2000, linger: 20ms }
          bulk_share: 0.1
          retries: { tiers: [10s, 1m, 10m], max_attempts: 8, deadline: 24h }
        admin: { listen: 127.0.0.1:9464 }   # /metrics /health/live /health/ready
        log:   { level: info, format: json }
        """

    @Test func `the sample of a gateway alone is read`() throws {
        let file = Repository.root.appending(path: "config/pickup.yaml")
        let configuration = try ConfigurationFile(String(contentsOf: file, encoding: .utf8)).configuration()
        #expect(configuration.pickup?.metrics?.port == 9465)
        #expect(configuration.apps.map(\.name) == ["shop-ios"])
    }

    @Test func `a file with the usual keys is read`() throws {
        let configuration = try ConfigurationFile(Self.usual).configuration()
        #expect(configuration.kafka.bootstrapServers == "127.0.0.1:9092")
        #expect(configuration.kafka.group == "remint")
        #expect(configuration.kafka.properties.isEmpty)
        #expect(!configuration.kafka.isEmbedded)
        #expect(configuration.delivery == .exactlyOnce)
        let retries = ["remint.retries.10s", "remint.retries.1m", "remint.retries.10m"]
        #expect(configuration.inputTopics == ["remint.invalidations", "remint.invalidations.bulk"] + retries)
        #expect(configuration.outputTopics == ["remint.tokens", "remint.dead-letters"] + retries)
        #expect(configuration.keys.map(\.name) == ["shop-braze", "shop-infobip"])
        #expect(configuration.keys.map(\.path) == ["conf/keys/shop-braze", "conf/keys/shop-infobip"])
        let app = try #require(configuration.apps.first)
        #expect(configuration.apps.count == 1)
        #expect(app.name == "shop-ios")
        #expect(app.adapter.name == "braze")
        #expect(app.key == "shop-braze")
        #expect(app.lifetime == 43_200)
        #expect(app.missingUser == .deadLetter)
        #expect(app.keyPlace == FileLocation(file: ConfigurationFile.name, line: 13, column: 10))
        #expect(configuration.worker.readAheadEvents == 2000)
        #expect(configuration.worker.batchLinger == .milliseconds(20))
        #expect(configuration.worker.bulkShare == 0.1)
        #expect(configuration.worker.retries.tiers.map(\.delay) == [.seconds(10), .seconds(60), .seconds(600)])
        #expect(configuration.worker.retries.maxAttempts == 8)
        #expect(configuration.worker.retries.deadline == .seconds(86_400))
        #expect(configuration.admin?.host == "127.0.0.1")
        #expect(configuration.admin?.port == 9464)
        #expect(configuration.log.level == "info")
        #expect(configuration.log.format == .json)
    }

    @Test func `keys that are left out have their defaults`() throws {
        let configuration = try ConfigurationFile(SampleText.minimal).configuration()
        #expect(configuration.kafka.group == "remint")
        #expect(configuration.apps.first?.lifetime == 43_200)
        #expect(configuration.delivery == .exactlyOnce)
        #expect(configuration.admin == nil)
        #expect(configuration.kafka.instance == nil)
        #expect(configuration.worker.admission.subjects == 250_000)
        #expect(configuration.worker.lookups.cache == 100_000)
        #expect(configuration.apps.first?.lookup == nil)
        #expect(configuration.worker.maximumEventBytes == 1 << 20)
        #expect(configuration.worker.shutdownDeadline == .seconds(25))
        #expect(configuration.keys.last?.path == "/var/keys/push", "an absolute path stays")
    }

    @Test func `a key ring behind a signer has a socket and no folder`() throws {
        let file = SampleText.replacing("path: /var/keys/push", "signer: run/signer.sock")
        let configuration = try file.configuration()
        #expect(configuration.keys.map(\.path) == ["conf/keys/shop", nil])
        #expect(configuration.keys.map(\.signer) == [nil, "conf/run/signer.sock"])
        #expect(configuration.keys.last?.place == FileLocation(file: ConfigurationFile.name, line: 5, column: 19))
    }

    @Test func `null and an empty mapping are as good as nothing`() throws {
        let more = "topics:\nworker: ~\nlog: null\nadmin: {}\ndelivery:\n"
        let configuration = try SampleText.with(more).configuration()
        #expect(configuration.topics.tokens == "remint.tokens")
        #expect(configuration.worker.readAheadEvents == 2000)
    }

    @Test func `an admin server without an address listens on this machine`() throws {
        #expect(try SampleText.with("admin: ~\n").configuration().admin == nil)
        let admin = try #require(try SampleText.with("admin: {}\n").configuration().admin)
        #expect(admin.host == "127.0.0.1")
        #expect(admin.port == 9464)
        #expect(admin.isLoopback)
        #expect(!admin.isOpen)
        #expect(admin.certificate == nil)
    }

    @Test(arguments: ["127.0.0.1:0", "[::1]:0", "localhost:0"])
    func `an admin server on loopback needs no token`(address: String) throws {
        let admin = try SampleText.with("admin: { listen: \"\(address)\" }\n").configuration().admin
        #expect(admin?.isLoopback == true)
    }

    @Test func `an admin server for others with TLS is read`() throws {
        let text = "admin: { listen: \"0.0.0.0:9464\", open: true, tls: { certificate: a.pem, key: /b.key } }\n"
        let admin = try #require(try SampleText.with(text).configuration().admin)
        #expect(!admin.isLoopback)
        #expect(admin.isOpen)
        #expect(admin.certificate?.chain == "conf/a.pem")
        #expect(admin.certificate?.key == "/b.key")
    }

    @Test func `every setting of every kind is read`() throws {
        let text = """
            kafka:
              bootstrap_servers: "embedded"
              group: 'g'
              properties: { fetch.min.bytes: 1, client.rack: a, socket.keepalive.enable: true }
            topics: { invalidations: in, invalidations_bulk: in.bulk, tokens: out, dead_letters: dead, retries: again }
            keys: { k: { path: ./k } }
            apps:
              web:
                adapter: bloomreach
                key: k
                lifetime: 15m
                missing_user: skip
                settings:
                  mode: stream
                  ids: [registered, crm]
              push:
                adapter: dotdigital
                key: k
                missing_user: dead_letter
                settings: { issuer: acme, audience: "https://push.example", id_claim: uid }
              strict:
                adapter: braze
                key: k
                settings: { audience: yes, sdk_api_key: 1111 }
            worker:
              batch: { events: 1, linger: 1ms }
              max_event_bytes: 2048
              shutdown_deadline: 1m
              bulk_share: 0.25
              retries: { tiers: [2s, 90s], max_attempts: 3, deadline: 1h }
              admission: { subjects: 0, coalesce: 500ms, suspend_after: 3, suspend_window: 1m }
              lookups: { cache: 100 }
            admin: { listen: "[::1]:0" }
            log: { level: trace, format: text }
            """
        let configuration = try ConfigurationFile(text).configuration()
        #expect(configuration.kafka.isEmbedded)
        #expect(configuration.kafka.group == "g")
        #expect(
            configuration.kafka.properties.map(\.name) == ["fetch.min.bytes", "client.rack", "socket.keepalive.enable"])
        #expect(configuration.kafka.properties.map(\.value) == ["1", "a", "true"])
        #expect(configuration.delivery == .atLeastOnce, "all that the embedded broker keeps")
        #expect(configuration.allTopics == ["in", "in.bulk", "out", "dead", "again.2s", "again.90s"])
        #expect(configuration.apps.map(\.name) == ["web", "push", "strict"])
        #expect(configuration.apps.map(\.adapter.name) == ["bloomreach", "dotdigital", "braze"])
        #expect(configuration.apps.map(\.lifetime) == [900, 900, 43_200])
        #expect(configuration.apps.map(\.missingUser) == [.skip, .deadLetter, .deadLetter])
        #expect(configuration.worker.readAheadEvents == 1)
        #expect(configuration.worker.batchLinger == .milliseconds(1))
        #expect(configuration.worker.maximumEventBytes == 2048)
        #expect(configuration.worker.shutdownDeadline == .seconds(60))
        #expect(configuration.worker.bulkShare == 0.25)
        #expect(configuration.worker.retries.tiers.map(\.delay) == [.seconds(2), .seconds(90)])
        #expect(configuration.worker.retries.maxAttempts == 3)
        #expect(configuration.worker.retries.deadline == .seconds(3600))
        #expect(configuration.worker.lookups.cache == 100)
        #expect(configuration.worker.admission.subjects == 0)
        #expect(configuration.worker.admission.coalesce == .milliseconds(500))
        #expect(configuration.worker.admission.suspendAfter == 3)
        #expect(configuration.worker.admission.suspendWindow == .seconds(60))
        #expect(configuration.admin?.host == "::1")
        #expect(configuration.admin?.port == 0)
        #expect(configuration.log.level == "trace")
        #expect(configuration.log.format == .text)
        let claims = configuration.apps[2].adapter.recipe(for: Subject(user: "u")).claims
        #expect(claims.map(\.name) == ["sub", "exp", "aud", "iss"])
        #expect(claims.last?.value == .constant("1111"), "a number where a string is meant is the string")
    }

    @Test func `anchors and aliases are resolved`() throws {
        let text = """
            kafka: { bootstrap_servers: 127.0.0.1:9092 }
            keys: { k: { path: k } }
            apps:
              one: &app
                adapter: braze
                key: &key k
                settings: &settings { audience: "${AUDIENCE}" }
              two: *app
              three: { adapter: braze, key: *key, settings: *settings }
            """
        let configuration = try ConfigurationFile(text, environment: ["AUDIENCE": "true"]).configuration()
        #expect(configuration.apps.map(\.name) == ["one", "two", "three"])
        for app in configuration.apps {
            #expect(app.adapter.recipe(for: Subject(user: "u")).claims.map(\.name) == ["sub", "exp", "aud"])
        }
    }

    @Test func `a file in the working folder has its paths as they are`() {
        let reader = ConfigurationReader(
            registry: ConfigurationFile.registry,
            source: ConfigurationSource(
                environment: { _ in nil }, file: { $0 == "remint.yaml" ? SampleText.minimal : nil }))
        #expect(reader.read("remint.yaml").configuration?.keys.map(\.path) == ["keys/shop", "/var/keys/push"])
    }
}
