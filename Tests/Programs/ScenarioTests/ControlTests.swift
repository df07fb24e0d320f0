import Foundation
import Kafka
import ProgramTestSupport
import Testing

extension OperatorScenarios {
    /// Tests that one operator's command applies to every worker, and to workers that start later.
    @Suite(.timeLimit(.minutes(5))) struct ControlTests {
        @Test func `a pause holds for two workers and over a restart, until the app is resumed`() async throws {
            let shop = try await Shop.open()
            let first = try await shop.startWorker()
            let second = try await shop.startWorker()
            let admins = [try await AdminAPI(of: first), try await AdminAPI(of: second)]

            let paused = try await apps(shop, "pause", "braze-ios", "--why", "the vendor moves", "--by", "ann")
            #expect(paused.status == 0, "\(paused.errorText)")
            for admin in admins { try await admin.wait("remint_app_paused", [#"app="braze-ios""#], atLeast: 1) }
            #expect(try await apps(shop, "pause", "braze-ios").status == 1, "it is paused already")
            let list = try await apps(shop, "list").outputText
            #expect(list.contains("paused") && list.contains("the vendor moves") && list.contains("ann"))

            for worker in [first, second] {
                worker.terminate()
                await worker.waitForEnd()
                #expect(worker.status == 0, "\(worker.errorText)")
            }
            // A worker that starts now reads it before its first event.
            try await shop.produce([rawReport("braze-ios", #"{"code":22,"userId":"ann"}"#)])
            let third = try await shop.startWorker()
            let admin = try await AdminAPI(of: third)
            try await admin.wait("remint_outcomes_total", [#"code="app_suspended""#], atLeast: 1)
            try await shop.produce([rawReport("onesignal-shop", #"{"externalId":"ben"}"#)])
            let tokens = try await shop.consumeOutputs { $0.contains { $0.member("app") == "onesignal-shop" } }
            #expect(!tokens.contains { $0.member("app") == "braze-ios" })

            let resumed = try await apps(shop, "resume", "braze-ios")
            #expect(resumed.status == 0, "\(resumed.errorText)")
            #expect(resumed.outputText.contains("it was paused since"))
            let all = try await shop.consumeOutputs {
                $0.contains { $0.member("app") == "braze-ios" }
            }
            #expect(all.count { $0.member("app") == "braze-ios" } == 1)
            #expect(try await apps(shop, "resume", "braze-ios").status == 1, "nothing holds it")

            await shop.close()
        }

        private func apps(_ shop: borrowing Shop, _ arguments: String...) async throws -> Command {
            try await Command.remint(
                ["apps"] + arguments + ["--config", shop.configuration, "--brokers", shop.broker.bootstrapServers])
        }
    }
}
