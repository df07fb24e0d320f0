import AdapterKit
import AdapterTestKit
import Foundation
import JOSE
import Kafka
import ProgramTestSupport
import Testing
import Vendors

extension GatewayScenarios.PickupTests {
    /// A recipient's key, for this test alone.
    private static let recipient = (
        open:
            #"{"crv": "P-256", "x": "4z9SWBCacQpXdElQiW4G7IvlMsZ_2JOE2YJfffc5fJU", "y": "gKBf7AXmuXB_Zzeq9dvIYWG-Zmeb9MjUqFQc-peNFWQ", "d": "DefH5jXBjo_s_NgbKm9Asqt_LumpRWh80MLxhh5P5I0", "kid": "recipient-1", "alg": "ECDH-ES+A256KW", "use": "enc", "kty": "EC"}"#,
        sealed:
            #"{"crv": "P-256", "x": "4z9SWBCacQpXdElQiW4G7IvlMsZ_2JOE2YJfffc5fJU", "y": "gKBf7AXmuXB_Zzeq9dvIYWG-Zmeb9MjUqFQc-peNFWQ", "kid": "recipient-1", "alg": "ECDH-ES+A256KW", "use": "enc", "kty": "EC"}"#
    )

    @Test func `a sealed token on the topic is readable to nobody, and is opened for its device`() async throws {
        let shop = try await Shop.open()
        for (name, jwk) in [
            ("recipient.jwk", Self.recipient.sealed), ("recipient.private.jwk", Self.recipient.open),
        ] {
            let file = shop.folder.appending(path: name)
            try Data(jwk.utf8).write(to: file)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
        }
        try shop.configure("  braze-ios:\n", "  braze-ios:\n    seal: recipient.jwk\n")
        try await shop.startWorker()
        let gateway = try await Gateway.start(shop, more: ["seal_keys: [recipient.private.jwk]"])
        let answer = try await gateway.call("/v1/apps/braze-ios/token", session: try gateway.session("ann"))
        #expect(answer.status == 200, "\(answer.text)")
        let token = try #require(answer.text("token"))
        #expect(Self.names("app/ann", token))
        let records = try await shop.consumeOutputs { $0.contains { $0.member("app") == "braze-ios" } }
        let signature = try #require(token.split(separator: ".").last).utf8
        for record in records {
            let bytes = (record.value ?? []) + record.headers.flatMap { Array($0.name.utf8) + ($0.value ?? []) }
            #expect(
                String(decoding: bytes, as: UTF8.self).firstRange(
                    of: String(decoding: Array(signature), as: UTF8.self)) == nil)
            #expect(record.header("remint-seal") == "recipient-1")
        }
        let opened = try await Program.run(
            "python3", ["-c", Self.opening], input: Data(try #require(records.first?.member("token")).utf8),
            environment: ["RECIPIENT": Self.recipient.open])
        // joserfc is not on every machine; where it is, it must agree.
        if opened.status == 0 { #expect(opened.outputText == token) }
        await shop.close()
    }

    private static let opening = """
        import json, os, sys
        from joserfc import jwe
        from joserfc.jwk import ECKey
        key = ECKey.import_key(json.loads(os.environ["RECIPIENT"]))
        found = jwe.decrypt_compact(sys.stdin.read().strip(), key, algorithms=["ECDH-ES+A256KW", "A256GCM"])
        sys.stdout.write(found.plaintext.decode())
        """
}
