import AsyncTestSupport
import Foundation
import Kafka
import ProgramTestSupport
import Testing

extension OperatorScenarios {
    /// Dead letters are listed without their payloads, and go back as often as they may.
    @Suite(.timeLimit(.minutes(5))) struct DeadLetterCommandTests {
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

            try await expectOneLetter(shop)
            let dry = try await remint(shop, ["redrive", "--app", "later", "--dry-run", "--json"])
            #expect(dry.outputText.contains(#""redriven":20"#), "\(dry.outputText) \(dry.errorText)")
            #expect(try await admin.total("remint_events_total") == 21, "a dry run sends nothing")

            // Nothing was fixed, so that they come back, each time once more, until the guard stops them.
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
            await shop.close()
        }

        /// Shows the one letter that names `later-7`, and filters by its place and its origin.
        private func expectOneLetter(_ shop: borrowing Shop) async throws {
            let listed = try await remint(shop, ["list", "--id", "later-7", "--json"])
            let letter = try #require(
                try JSONSerialization.jsonObject(with: listed.standardOutput) as? [String: Any], "\(listed.errorText)")
            let place = try #require(letter["letter"] as? String)
            let origin = "\(letter["topic"] ?? "")/\(letter["partition"] ?? "")/\(letter["offset"] ?? "")"
            for filter in [["--letter", place], ["--origin", origin]] {
                let found = try await remint(shop, ["list", "--json"] + filter)
                #expect(found.outputText == listed.outputText, "\(filter)")
            }
            let shown = try await remint(shop, ["show", place])
            #expect(shown.status == 0, "\(shown.errorText)")
            for word in [place, "later-7", "unknown_app", origin, "remint-error-code", "user-7"] {
                #expect(shown.outputText.contains(word), "\(word): \(shown.outputText)")
            }
            #expect(try await remint(shop, ["show", "0/4000"]).status == 1)
        }

        @Test(arguments: Scale.isLong ? ["at_least_once", "exactly_once"] : ["exactly_once"])
        func `parked letters are passed over until they are unparked or redriven, and then go once`(
            _ delivery: String
        ) async throws {
            let shop = try await Shop.open()
            try await shop.broker.createTopic("remint.dead-letters.parked", partitions: shop.partitions)
            let worker = try await shop.startWorker()
            let admin = try await AdminAPI(of: worker)
            // The worker read its own; from here on the commands go by this one.
            try shop.configure("delivery: at_least_once", "delivery: \(delivery)")
            let report = #"{"code":25,"userId":"ann","signature":"\#(Self.secret)"}"#
            try await shop.produce(
                [rawReport("braze-ios", report, id: "not-fixable")]
                    + (0..<6).map { rawReport("later", #"{"code":22,"userId":"user-\#($0)"}"#, id: "later-\($0)") })
            try await admin.wait("remint_outcomes_total", [#"outcome="dead_lettered""#], atLeast: 7)

            let park = [
                "park", "--code", "unknown_app", "--reason", "the app comes on Monday", "--by", "ann", "--json",
            ]
            try await expect(shop, park + ["--dry-run"], #""parked":6"#)
            try await expect(shop, park, #""parked":6"#)
            try await expect(shop, park, #""parked":0,"other":1"#, #""parked_already":6"#)
            #expect(try await lines(shop, ["list", "--json"]) == 1)
            let table = try await remint(shop, ["list", "--parked", "--id", "later-3"])
            #expect(table.outputText.contains("by ann: the app comes on Monday"), "\(table.outputText)")
            #expect(table.errorText.contains("1 parked dead letter"), "\(table.errorText)")
            #expect(try await lines(shop, ["list", "--parked", "--json"]) == 6)
            let status = try await Command.remint(
                ["status", "--config", shop.configuration, "--json"])
            #expect(
                status.outputText.contains(
                    #""parked_letters":{"topic":"remint.dead-letters.parked","partitions":2,"waiting":6}"#),
                "\(status.outputText)")
            #expect(status.outputText.contains(#""topic":"remint.dead-letters","partitions":2,"waiting":1}"#))
            try await expect(shop, ["redrive", "--app", "later", "--json"], #""redriven":0"#, #""parked":6"#)

            // One stands among the dead letters again, five go to where they came from: each once.
            try await expect(shop, ["unpark", "--id", "later-0", "--json"], #""unparked":1"#)
            #expect(try await lines(shop, ["list", "--json", "--app", "later"]) == 1)
            try await expect(shop, ["redrive", "--parked", "--json"], #""redriven":5"#)
            try await expect(shop, ["redrive", "--parked", "--json"], #""redriven":0"#)
            try await expect(shop, ["redrive", "--app", "later", "--id", "later-0", "--json"], #""redriven":1"#)
            try await admin.wait("remint_outcomes_total", [#"outcome="dead_lettered""#], atLeast: 13)
            // Another filter has a group of its own, and yet sends none of the first time again.
            let code = ["redrive", "--code", "unknown_app", "--max-redrives", "1", "--json"]
            try await expect(shop, code, #""redriven":0"#, #""redriven_too_often":6"#, #""done_already":7"#)
            #expect(try await lines(shop, ["list", "--parked", "--json"]) == 0)
            #expect(try await admin.total("remint_events_total") == 13)

            // The seven, the one that was unparked, and each of the six once more.
            let letters = try await shop.consumeOutputs { $0.count >= 14 }
            let again = letters.filter { $0.header("remint-redrives") == "1" }
            #expect(Set(again.compactMap { $0.header("remint-id") }).count == 6 && again.count == 6)
            #expect(letters.allSatisfy { $0.header("remint-parked-letter") == nil })
            await shop.close()
        }

        private func expect(_ shop: borrowing Shop, _ arguments: [String], _ words: String...) async throws {
            let ran = try await remint(shop, arguments)
            let told = "\(arguments): \(ran.outputText) \(ran.errorText)"
            #expect(ran.status == 0 && words.allSatisfy { ran.outputText.contains($0) }, "\(told)")
        }

        private func lines(_ shop: borrowing Shop, _ arguments: [String]) async throws -> Int {
            let list = try await remint(shop, arguments)
            #expect(list.status == 0, "\(list.errorText)")
            return list.outputText.split(separator: "\n").count
        }

        @Test(arguments: [
            ["--code", "none_such"], ["--stage", "sign"], ["--newer-than", "soon"], ["--letter", "7"],
            ["--origin", "t/x"], ["--since", "now"],
        ])
        func `a filter that cannot be meant is refused`(_ arguments: [String]) async throws {
            let list = try await Command.remint(
                ["dead-letters", "list", "--config", "remint.yaml"] + arguments)
            #expect(list.status == 2, "\(list.errorText)")
        }

        private func remint(_ shop: borrowing Shop, _ arguments: [String]) async throws -> Command {
            try await Command.remint(
                ["dead-letters"] + arguments + ["--config", shop.configuration])
        }
    }
}
