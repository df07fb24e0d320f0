import Foundation
import Kafka
import ProgramTestSupport
import Testing

extension Scenarios {
    /// Dead letters are listed without their payloads, and go back as often as they may.
    @Suite(.timeLimit(.minutes(10))) struct DeadLetterCommandTests {
        private static let secret = "eyJhbGciOiJSUzI1NiJ9.ZG8tbm90LXNob3c.c2lnbmF0dXJl"

        @Test func `dead letters are listed, redriven, guarded against loops, and none is sent twice`() async throws {
            let shop = try await Shop.open()
            let worker = try await shop.startWorker()
            let admin = try await AdminAPI(of: worker)
            let report = #"{"code":25,"userId":"ann","signature":"\#(Self.secret)"}"#
            try await shop.produce(
                [rawReport("braze-ios", report, id: "not-fixable")]
                    + (0..<20).map { rawReport("later", #"{"code":22,"userId":"user-\#($0)"}"#, id: "later-\($0)") })
            try await admin.wait("remint_outcomes_total", [#"outcome="dead_lettered""#], atLeast: 21)

            let list = try await remint(shop, ["list", "--json"])
            #expect(list.status == 0, "\(list.errorText)")
            #expect(list.outputText.split(separator: "\n").count == 21)
            #expect(!list.outputText.contains(Self.secret))
            let table = try await remint(shop, ["list", "--code", "not_fixable_by_token"])
            #expect(table.outputText.contains("braze-ios") && !table.outputText.contains("unknown_app"))
            #expect(!table.outputText.contains("eyJ"))
            let none = try await remint(shop, ["list", "--older-than", "1h", "--json"])
            #expect(none.outputText.isEmpty)

            let dry = try await remint(shop, ["redrive", "--app", "later", "--dry-run", "--json"])
            #expect(dry.outputText.contains(#""redriven":20"#), "\(dry.outputText) \(dry.errorText)")
            #expect(try await admin.total("remint_events_total") == 21, "a dry run sends nothing")

            // Nothing was mended, so that they come back, each time once more, until the guard stops them.
            for round in 1...3 {
                let sent = try await remint(shop, ["redrive", "--app", "later", "--json"])
                #expect(sent.outputText.contains(#""redriven":20"#), "round \(round): \(sent.outputText)")
                try await admin.wait(
                    "remint_outcomes_total", [#"outcome="dead_lettered""#], atLeast: Double(21 + round * 20))
            }
            let guarded = try await remint(shop, ["redrive", "--app", "later", "--json"])
            #expect(guarded.outputText.contains(#""redriven":0"#), "\(guarded.outputText)")
            #expect(guarded.outputText.contains(#""redriven_too_often":20"#), "\(guarded.outputText)")

            let ids = try await shop.consumeOutputs { $0.count >= 81 }.filter { $0.header("remint-redrives") == "3" }
            #expect(ids.count == 20, "the origin and the id of each are those of the first time")
            #expect(Set(ids.compactMap { $0.header("remint-id") }).count == 20)
            worker.terminate()
            await worker.waitForEnd()
            await shop.broker.close()
        }

        @Test(arguments: [["--code", "none_such"], ["--stage", "sign"], ["--newer-than", "soon"]])
        func `a filter that cannot be meant is refused`(_ arguments: [String]) async throws {
            let list = try await Program.run(
                Repository.remint, ["dead-letters", "list", "--config", "remint.yaml"] + arguments)
            #expect(list.status == 2, "\(list.errorText)")
        }

        private func remint(_ shop: borrowing Shop, _ arguments: [String]) async throws -> Program {
            try await Program.run(
                Repository.remint, ["dead-letters"] + arguments + ["--config", shop.configuration])
        }
    }
}
