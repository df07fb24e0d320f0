import AsyncTestSupport
import CertificateTestSupport
import Foundation
@_spi(Signing) import JOSE
import Kafka
import ProgramTestSupport
import Testing

extension GatewayScenarios {
    /// A configuration that changes under a gateway that runs.
    @Suite(.timeLimit(.minutes(5))) struct PickupReloadTests {
        /// Replaces the file in one step, as those do who deploy.
        private static func write(_ text: String, _ gateway: Gateway) throws {
            let copy = gateway.file.appendingPathExtension("new")
            try Data(text.utf8).write(to: copy)
            try #require(rename(copy.path, gateway.file.path) == 0)
        }

        @Test func `a new app and a new key are served, and no stream is dropped`() async throws {
            let shop = try await Shop.open()
            try await shop.startWorker()
            let gateway = try await Gateway.start(shop)
            let session = try gateway.session("ann")
            let stream = try gateway.stream("onesignal-shop", session)
            try #require(await stream.wrote("event: token"), "\(stream.errorText)")
            let path = "/v1/apps/onesignal-two/token?wait=0"
            #expect(try await gateway.call(path, session: session).status != 202)

            let text = try String(contentsOf: gateway.file, encoding: .utf8)
            let app = try #require(text.firstMatch(of: /(?m)^  onesignal-shop:\n(?:    .*\n)+/))
            let key = "rmk_0123456789abcdefghijklmnopqrstuvwxyz0123456"
            let hash = SHA256.hash(Array(key.utf8)).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
            let changed = text.replacing(
                app.0, with: app.0 + app.0.replacing("  onesignal-shop:", with: "  onesignal-two:")
            ).replacing("api_keys: {", with: "api_keys: { second: { hash: \(hash) },").replacing(
                "\n    onesignal-shop: {",
                with: "\n    onesignal-two: { issuer: https://login.example }\n    onesignal-shop: {")
            try Self.write(changed, gateway)
            try #require(await gateway.program.logged("reload.applied"), "\(gateway.program.errorText)")
            #expect(gateway.program.errorText.contains("apps.onesignal-two"))
            #expect(gateway.program.errorText.contains("pickup.api_keys.second.hash"))
            let answer = try await gateway.acceptedCall(path, session: session)
            #expect(answer.status == 202, "\(answer.text)")
            let second = try await gateway.call(
                "/v1/apps/onesignal-shop/token", headers: ["X-Api-Key": key, "Remint-Vouched": #"{"user":"ann"}"#])
            #expect(second.status == 200, "\(second.text)")

            // The stream that was open goes on.
            let report = try await gateway.report(
                Array(#"{"externalId":"ann"}"#.utf8), "onesignal-shop", session: session)
            let version = try #require(report.body?["version"]?.integer, "\(report.text)")
            #expect(await stream.wrote("id: \(version)"), "\(stream.errorText)")
            #expect(!stream.errorText.contains("event: reconnect"))

            // What needs a restart is named, and the rest is taken over.
            try Self.write(changed.replacing("user_rate: 10000", with: "user_rate: 9999\n  cache: 32MB"), gateway)
            try #require(await gateway.program.logged("reload.needs-restart"))
            #expect(gateway.program.errorText.contains("remint.configuration.keys=pickup.cache"))
            try #require(await gateway.program.wrote("remint.configuration.keys=pickup.user_rate"))

            // A wrong file changes nothing, and SIGHUP reads it at once.
            try Self.write(changed.replacing("user_rate: 10000", with: "user_rate: none"), gateway)
            gateway.program.send(SIGHUP)
            try #require(await gateway.program.logged("reload.refused"))
            #expect(try await gateway.call("/v1/apps/onesignal-shop/token", session: session).status == 200)
            let metrics = try await gateway.scrape()
            #expect(metrics.contains("remint_configuration_last_reload_successful 0"), "\(metrics)")
            #expect(metrics.contains(#"remint_configuration_reloads_total{result="applied"} 2"#))
            await shop.close(expecting: 0)
        }

        /// A stream of `app` for `session`, once it has begun.
        private static func stream(_ app: String, _ session: String, _ gateway: Gateway) async throws -> Program {
            let stream = try gateway.stream(app, session)
            try #require(await stream.wrote("event: ready"), "\(stream.errorText)")
            return stream
        }

        @Test func `streams end where their app's sessions change or their app is closed, and others go on`()
            async throws
        {
            let shop = try await Shop.open()
            let keys = shop.folder.appending(path: "sessions.json").path
            let partner = "https://partner.example"
            let gateway = try await Gateway.start(
                shop,
                entries: ["onesignal-shop: { issuer: https://login.example }", "braze-ios: { issuer: \(partner) }"],
                more: ["sessions: { partner: { issuer: \(partner), audience: shop, jwks: '\(keys)' } }"])
            let text = try String(contentsOf: gateway.file, encoding: .utf8)
            let own = try gateway.session("ann")
            let first = try await Self.stream("onesignal-shop", own, gateway)
            let other = try await Self.stream("braze-ios", try gateway.session("ann", issuer: partner), gateway)

            let stricter = text.replacing("cool_down: 1s }", with: "cool_down: 1s, skew: 5s }")
            try Self.write(stricter, gateway)
            try #require(await gateway.program.wrote("remint.configuration.keys=pickup.session.skew"))
            #expect(await first.wrote("event: reconnect"), "\(first.errorText)")
            #expect(await other.wrote(": heartbeat"), "\(other.errorText)")
            #expect(!other.errorText.contains("event: reconnect"))

            let second = try await Self.stream("onesignal-shop", own, gateway)
            try Self.write(stricter.replacing("    braze-ios: { issuer: \(partner) }\n", with: ""), gateway)
            #expect(await other.wrote("event: reconnect"), "\(other.errorText)")
            #expect(await second.wrote(": heartbeat"), "\(second.errorText)")
            #expect(!second.errorText.contains("event: reconnect"))
            await shop.close(expecting: 0)
        }

        @Test func `a key that its file does not have any more counts no more, at once and on SIGHUP`() async throws {
            let shop = try await Shop.open()
            let (old, next) = (
                try SigningKey.generate(.es256, keyID: "session-1"), try SigningKey.generate(.es256, keyID: "session-2")
            )
            let gateway = try await Gateway.start(shop, issuer: old)
            let keys = shop.folder.appending(path: "sessions.json")
            func publish(_ published: SigningKey...) throws {
                let copy = keys.appendingPathExtension("new")
                try Data(try JWK.setJSON(of: published.map(\.verificationKey))).write(to: copy)
                try #require(rename(copy.path, keys.path) == 0)
            }
            func status(_ key: SigningKey) async throws -> Int {
                try await gateway.call(
                    "/v1/apps/onesignal-shop/token?after=0&wait=0", session: try gateway.session("ann", by: key)
                ).status
            }
            #expect(try await status(old) == 204)
            let stream = try await Self.stream("onesignal-shop", try gateway.session("ann", by: old), gateway)

            try publish(next)
            try #require(await gateway.program.wrote("remint.configuration.keys=pickup.session.jwks"))
            try await eventually("the next key") { try await status(next) == 204 }
            // Within the cool-down it may be a key that is yet to come.
            let oldStatus = try await status(old)
            #expect(oldStatus == 401 || oldStatus == 503)
            #expect(await stream.wrote("event: reconnect"), "\(stream.errorText)")

            try publish(old)
            gateway.program.send(SIGHUP)
            try await eventually("the old key") { try await status(old) == 204 }
            // Within the cool-down it may be a key that is yet to come.
            let nextStatus = try await status(next)
            #expect(nextStatus == 401 || nextStatus == 503)
            await shop.close(expecting: 0)
        }

        @Test func `a certificate that is replaced is shown without a restart`() async throws {
            let shop = try await Shop.open()
            let certificates = try Certificates()
            try await certificates.make("authority")
            try await certificates.makeExpired("server", signedBy: "authority")
            try await certificates.make("next", signedBy: "authority")
            let (chain, key) = (certificates.path("server.pem"), certificates.path("server.key"))
            for key in [key, certificates.path("next.key")] {
                try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: key)
            }
            let gateway = try await Gateway.start(
                shop, more: ["tls: { certificate: '\(chain)', key: '\(key)' }"], untilReady: false)
            try #require(await gateway.program.logged("gateway.certificate-expired"))
            try #require(rename(certificates.path("next.pem"), chain) == 0)
            try #require(rename(certificates.path("next.key"), key) == 0)
            try #require(await gateway.program.logged("gateway.certificate-valid"))
            #expect(gateway.program.errorText.contains("remint.configuration.keys=pickup.tls"))
            let port = try #require(gateway.address.split(separator: ":").last)
            let health = try await Program.run(
                "curl",
                [
                    "-s", "--cacert", certificates.path("authority.pem"), "--resolve", "localhost:\(port):127.0.0.1",
                    "-w", "%{http_code}", "https://localhost:\(port)/health/live",
                ])
            #expect(health.outputText.hasSuffix("200"), "\(health.outputText) \(health.status)")
            await shop.close()
        }

        @Test func `new files of the Kafka clients' certificates bring new clients, and devices are served on`()
            async throws
        {
            let shop = try await Shop.open()
            try await shop.startWorker()
            let certificates = try Certificates()
            try await certificates.make("authority")
            try await certificates.make("client", signedBy: "authority")
            try await certificates.makeExpired("old", signedBy: "authority")
            // The embedded broker speaks no TLS: the files are watched all the same.
            try shop.configure(
                "fetch.wait.max.ms: 10",
                "fetch.wait.max.ms: 10\n    ssl.certificate.location: '\(certificates.path("client.pem"))'")
            let gateway = try await Gateway.start(shop)
            try #require(rename(certificates.path("old.pem"), certificates.path("client.pem")) == 0)
            try #require(await gateway.program.logged("kafka-certificates.changed"))
            let answer = try await gateway.call("/v1/apps/onesignal-shop/token", session: try gateway.session("ann"))
            #expect(answer.status == 200, "\(answer.text)")
            let metrics = try await gateway.scrape()
            // 1 February 2020.
            #expect(metrics.contains("remint_kafka_client_certificate_expiry_timestamp_seconds 1580515200"))
            await shop.close(expecting: 0)
        }
    }
}
