import CertificateTestSupport
import Foundation
import JOSE
import Kafka
import ProgramTestSupport
import Testing

extension GatewayScenarios {
    /// Faults around the gateway: what readiness, log and device report of each.
    @Suite(.timeLimit(.minutes(5))) struct PickupFaultTests {
        private static let keysLost = "session-keys.unavailable"
        private static let keysFound = "session-keys.available"
        private static let brokersLost = "gateway.brokers-unreachable"

        private static func dependency(_ name: String, _ answer: Gateway.Answer) -> String? {
            answer.body?["dependencies"]?[name]?.string
        }

        @Test func `session keys that cannot be read keep the gateway from being ready, until they can`() async throws {
            let shop = try await Shop.open()
            let worker = try await shop.startWorker()
            let file = shop.folder.appending(path: "late.json")
            let gateway = try await Gateway.start(shop, keySet: file.path, untilReady: false)
            let session = try gateway.session("ann")
            let unready = try await gateway.health { $0.body?["dependencies"]?["tokens"]?.string == "ok" }
            #expect(unready.status == 503)
            #expect(Self.dependency("sessions", unready) == "the session issuer's keys were never read")
            #expect(Self.dependency("brokers", unready) == "ok")
            try #require(await gateway.program.logged(Self.keysLost))
            let refused = try await gateway.call("/v1/apps/onesignal-shop/token", session: session)
            #expect(refused.status == 503 && refused.headers["retry-after"] != nil, "\(refused.text)")

            try FileManager.default.copyItem(at: shop.folder.appending(path: "sessions.json"), to: file)
            let ready = try await gateway.health { $0.status == 200 }
            #expect(Self.dependency("sessions", ready) == "ok")
            try #require(await gateway.program.logged(Self.keysFound))
            let served = try await gateway.call("/v1/apps/onesignal-shop/token", session: session)
            #expect(served.status == 200, "\(served.text)")
            #expect(gateway.program.logCount(Self.keysLost) == 1 && gateway.program.logCount(Self.keysFound) == 1)
            await gateway.stop()
            worker.terminate()
            await worker.waitForEnd()
            await shop.broker.close()
        }

        @Test func `an issuer that accepts connections and never answers is reported within its deadline`() async throws
        {
            let shop = try await Shop.open()
            let listener = try SilentListener()
            let gateway = try await Gateway.start(
                shop, keySet: "http://127.0.0.1:\(listener.port)/jwks", untilReady: false)
            try #require(await gateway.program.logged(Self.keysLost))
            #expect(gateway.program.logCount(Self.keysLost) == 1)
            let answer = try await gateway.call("/health/ready")
            #expect(answer.status == 503)
            #expect(Self.dependency("sessions", answer) == "the session issuer's keys were never read")
            await gateway.stop()
            await shop.broker.close()
        }

        @Test func `calls end within their wait without brokers, and known tokens are served`() async throws {
            let shop = try await Shop.open()
            let worker = try await shop.startWorker()
            let gateway = try await Gateway.start(shop)
            let (ann, ben) = (try gateway.session("ann"), try gateway.session("ben"))
            let known = try await gateway.call("/v1/apps/onesignal-shop/token", session: ann)
            #expect(known.status == 200, "\(known.text)")
            worker.terminate()
            await worker.waitForEnd()
            await shop.broker.close()

            // At first nobody knows that the brokers are gone: each call ends in its own time. The rest is a busy machine's.
            for wait in [0, 3] {
                let start = ContinuousClock.now
                let answer = try await gateway.call("/v1/apps/onesignal-shop/token?wait=\(wait)", session: ben)
                #expect([202, 503].contains(answer.status), "\(answer.text)")
                if answer.status == 503 { #expect(answer.headers["retry-after"] != nil) }
                #expect((.now - start) < .seconds(wait + 15), "wait=\(wait)")
            }
            let unready = try await gateway.health { Self.dependency("brokers", $0) != "ok" }
            #expect(unready.status == 503)
            #expect(Self.dependency("brokers", unready)?.hasPrefix("no broker answers since ") == true)
            try #require(await gateway.program.logged(Self.brokersLost))

            // Now it is known.
            for wait in [0, 30] {
                let start = ContinuousClock.now
                let answer = try await gateway.call(
                    "/v1/apps/onesignal-shop/token?wait=\(wait)", session: try gateway.session("carl"))
                #expect(answer.status == 503 && answer.text("code") == "unavailable", "\(answer.text)")
                #expect((.now - start) < .seconds(15), "wait=\(wait)")
            }
            let served = try await gateway.call("/v1/apps/onesignal-shop/token", session: ann)
            #expect(served.status == 200 && served.text("token") == known.text("token"))
            #expect(gateway.program.logCount(Self.brokersLost) == 1)
            await gateway.stop()
        }

        @Test func `a certificate that has expired keeps the gateway from being ready`() async throws {
            let shop = try await Shop.open()
            let certificates = try Certificates()
            try await certificates.make("authority")
            try await certificates.makeExpired("server", signedBy: "authority")
            let (chain, key) = (certificates.path("server.pem"), certificates.path("server.key"))
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: key)
            let gateway = try await Gateway.start(
                shop, more: ["tls: { certificate: '\(chain)', key: '\(key)' }"], untilReady: false)
            try #require(await gateway.program.logged("gateway.certificate-expired"))
            let health = try await Program.run(
                "curl", ["-sk", "-w", "%{http_code}", "https://\(gateway.address)/health/ready"])
            #expect(health.outputText.hasSuffix("503"), "\(health.outputText)")
            #expect(health.outputText.contains(#""certificate":"pickup.tls.certificate expired at 2020-02-01"#))
            #expect(gateway.program.logCount("gateway.certificate-expired") == 1)
            await gateway.stop()
            await shop.broker.close()
        }

        @Test func `every call that shares a report hears at once that the brokers did not take it`() async throws {
            let shop = try await Shop.open()
            let gateway = try await Gateway.start(shop)
            let session = try gateway.session("ann")
            try await shop.broker.inject(.brokerDelay(1, milliseconds: 2000))
            try await shop.broker.inject(.errors(.produce, [.messageTooLarge]))
            let start = ContinuousClock.now
            let answers = try await withThrowingTaskGroup(of: Gateway.Answer.self) { group in
                for _ in 0..<3 {
                    group.addTask {
                        try await gateway.report(
                            Array(#"{"externalId":"ann"}"#.utf8), "onesignal-shop", session: session)
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(ContinuousClock.now - start < .seconds(15), "none of them waits to the end of its 20 seconds")
            #expect(answers.allSatisfy { $0.status == 503 && $0.text("code") == "unavailable" }, "\(answers)")
            #expect(Set(answers.map { $0.text("detail") ?? "" }).count == 1, "\(answers)")
            #expect(answers.allSatisfy { $0.headers["retry-after"] != nil })
            await gateway.stop()
            await shop.broker.close()
        }

        @Test func `a wrong configuration ends the start before the gateway listens`() async throws {
            let shop = try await Shop.open()
            let file = shop.folder.appending(path: "wrong.yaml")
            let text = try String(contentsOfFile: shop.configuration, encoding: .utf8)
            try Data("\(text)\npickup:\n  listen: 127.0.0.1:0\n  user_rate: none\n".utf8).write(to: file)
            let gateway = try await Program.run(Repository.remint, ["pickup", "--config", file.path])
            #expect(gateway.status == 1)
            #expect(gateway.errorText.contains("user_rate") && !gateway.hasLogged("gateway.listening"))

            let port = try Gateway.freePort()
            let session = "session: { issuer: i, jwks: keys.json }"
            try Data(
                "\(text)\npickup:\n  listen: 127.0.0.1:\(port)\n  metrics: 127.0.0.1:\(port)\n  \(session)\n".utf8
            ).write(to: file)
            let line = text.split(separator: "\n", omittingEmptySubsequences: false).count + 3
            let run = try await Program.run(Repository.remint, ["pickup", "--config", file.path])
            let check = try await Command.remint(["check", "--config", file.path])
            for (status, errors) in [(run.status, run.errorText), (check.status, check.errorText)] {
                #expect(status == 1)
                #expect(
                    errors.contains(
                        "wrong.yaml:\(line):12: error: pickup.metrics and pickup.listen both listen on port \(port) of one address; write another port in pickup.metrics"
                    ), "\(errors)")
            }
            await shop.broker.close()
        }
    }
}

/// A port that accepts connections and never reads or answers.
private final class SilentListener {
    let port: Int
    private let descriptor: Int32

    init() throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = descriptor
        let error = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && listen(descriptor, 100) == 0
                    ? getsockname(descriptor, $0, &length) : -1
            }
        }
        try #require(error == 0)
        port = Int(UInt16(bigEndian: address.sin_port))
    }

    deinit { close(descriptor) }
}
