import AsyncTestSupport
import Foundation
import Kafka
import ProgramTestSupport
import Testing

extension KeyScenarios {
    /// The keys live with another process, and whatever becomes of that one, each event is answered once.
    @Suite(.timeLimit(.minutes(5))) struct SignerTests {
        @Test func `a signer that is killed under load costs no event and doubles none`() async throws {
            let shop = try await Shop.open()
            let place = try SignerPlace(shop)
            var signer = try await place.start()
            let worker = try await shop.startWorker()
            let admin = try await AdminAPI(of: worker)
            var sent: Set<String> = []
            for round in 0..<4 {
                let deferred = try await admin.total("remint_outcomes_total", [#"outcome="deferred""#])
                let minted = try await admin.total("remint_outcomes_total", [#"outcome="minted""#])
                let ids = (0..<400).map { "event-\(round)-\($0)" }
                try await shop.produce(ids.prefix(300).enumerated().map { report($0, $1) })
                // In the middle of them; in the first round right away.
                try await admin.wait(
                    "remint_outcomes_total", [#"outcome="minted""#], atLeast: minted + Double(round * 50))
                signer.kill()
                await signer.waitForEnd()
                try await shop.produce(ids.suffix(100).enumerated().map { report($0, $1) })
                sent.formUnion(ids)
                // What came after its end failed and waits.
                try await admin.wait("remint_outcomes_total", [#"outcome="deferred""#], atLeast: deferred + 1)
                try await eventually("the problem of the signer") {
                    try await admin.get("/health/ready").text.contains("the signer at")
                }
                #expect(FileManager.default.fileExists(atPath: place.socket), "a killed signer leaves its socket")
                signer = try await place.start()
            }
            try await admin.wait("remint_outcomes_total", [#"outcome="minted""#], atLeast: Double(sent.count))
            try await eventually("readiness") { try await admin.get("/health/ready").status == 200 }
            worker.terminate()
            await worker.waitForEnd()
            #expect(worker.status == 0, "\(worker.errorText)")
            let answers = try await shop.records(of: ["remint.tokens"])
            #expect(Set(answers.compactMap { $0.member("event_id") }) == sent)
            #expect(answers.count == sent.count, "one token for each event")
            #expect(try await shop.records(of: ["remint.dead-letters"]).isEmpty)
            signer.terminate()
            await signer.waitForEnd()
            #expect(signer.status == 0, "\(signer.errorText)")
            #expect(!FileManager.default.fileExists(atPath: place.socket))
            // Who asks is in its log, and nothing that was asked.
            #expect(signer.hasLogged("signer.worker-connected"))
            #expect(!signer.errorText.contains("eyJ") && !signer.errorText.contains("event-"))
            await shop.close()
        }

        @Test func `a worker starts beside a signer that is not there, and a second signer does not start`()
            async throws
        {
            let shop = try await Shop.open()
            let place = try SignerPlace(shop)
            let check = try await Command.remint(["check", "--config", shop.configuration])
            #expect(check.status == 0, "\(check.errorText)")
            #expect(check.outputText.contains("3 behind a signer and not looked at"))
            let worker = try await shop.startWorker()
            let admin = try await AdminAPI(of: worker)
            #expect(try await admin.get("/health/ready").text.contains("start it with: remint signer"))
            try await shop.produce([report(0, "early")])
            try await admin.wait("remint_outcomes_total", [#"outcome="deferred""#], atLeast: 1)
            let signer = try await place.start()
            try await admin.wait("remint_outcomes_total", [#"outcome="minted""#], atLeast: 1)
            let second = try await Program.run(Repository.remint, place.arguments)
            #expect(second.status == 75)
            #expect(second.errorText.contains("another signer listens on \(place.socket)"))
            for program in [worker, signer] {
                program.terminate()
                await program.waitForEnd()
                #expect(program.status == 0, "\(program.errorText)")
            }
            await shop.close()
        }

        /// A report of one of three vendors: a shared secret, an elliptic curve and RSA.
        private func report(_ number: Int, _ id: String) -> ProducerRecord {
            switch number % 3 {
            case 0: rawReport("infobip-mobile", #"{"code":"JWT_TOKEN_EXPIRED","externalUserId":"\#(id)"}"#, id: id)
            case 1: rawReport("onesignal-shop", #"{"externalId":"\#(id)"}"#, id: id)
            default:
                rawReport("braze-ios", #"{"errorCode":22,"errorReason":"sdk_auth_error","userId":"\#(id)"}"#, id: id)
            }
        }
    }
}
