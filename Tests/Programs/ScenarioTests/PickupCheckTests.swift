import AdapterKit
import Foundation
@_spi(Signing) import JOSE
import Kafka
import ProgramTestSupport
import Testing

extension GatewayScenarios {
    /// Tests of the findings of `remint check` about a gateway.
    @Suite(.timeLimit(.minutes(5))) struct PickupCheckTests {
        @Test func `check reports which session opens which app, and the line to add where none does`() async throws {
            let shop = try await Shop.open()
            let file = shop.folder.appending(path: "check.yaml")
            let keys = shop.folder.appending(path: "keys.json")
            let key = try SigningKey.generate(.es256, keyID: "a")
            try Data(try JWK.setJSON(of: [key.verificationKey])).write(to: keys)
            let text = try String(contentsOfFile: shop.configuration, encoding: .utf8)
            func check(_ lines: [String], _ options: [String] = []) async throws -> (status: Int32, output: String) {
                let section = [
                    "pickup:", "  listen: 127.0.0.1:0",
                    "  session: { issuer: https://login.example, audience: shop, jwks: '\(keys.path)' }",
                ]
                let all = text + "\n" + (section + lines.map { "  \($0)" }).joined(separator: "\n") + "\n"
                try Data(all.utf8).write(to: file)
                let run = try await Command.remint(["check", "--config", file.path] + options)
                return (run.status, run.outputText + run.errorText)
            }
            let closed = try await check([])
            #expect(closed.status == 1, "\(closed.output)")
            #expect(closed.output.contains(#"braze-ios: { issuer: "https://login.example" }"#))

            let apps = "apps: { braze-ios: { issuer: https://login.example, claim: customer } }"
            let open = try await check([apps], ["--connect"])
            #expect(open.status == 0, "\(open.output)")
            for word in ["app braze-ios: pickup.session", "https://login.example", "audience shop", "user customer"] {
                #expect(open.output.contains(word), "\(word): \(open.output)")
            }
            #expect(open.output.contains("app onesignal-shop: not open to devices"))
            #expect(open.output.contains("pickup speaks plain text and names no proxy"))
            #expect(open.output.contains("keys of pickup.session: ok, 1 key"))

            let proven = try await check([apps, "proof: dpop", "trusted_proxies: [10.0.0.0/8]"])
            #expect(proven.output.contains("a proof of possession counts once on each instance"))
            #expect(!proven.output.contains("names no proxy"))
            await shop.close()
        }
    }
}
