import Foundation
import Kafka
import ProgramTestSupport
import Testing

extension Scenarios {
    /// Records nobody can answer, each between two that must be.
    @Suite(.timeLimit(.minutes(5))) struct PoisonTests {
        private struct Poison {
            let code: String
            let value: [UInt8]?
            var app: String? = "braze-ios"
        }

        private static let poisons: [Poison] = [
            Poison(code: "malformed_event", value: []),
            Poison(code: "malformed_event", value: nil),
            Poison(code: "event_too_large", value: noise(2_000_000)),
            Poison(code: "malformed_event", value: Array(#"{"code":22,"userId":"u-1"#.utf8)),
            Poison(
                code: "malformed_event",
                value: Array((String(repeating: "[", count: 10_000) + String(repeating: "]", count: 10_000)).utf8)),
            Poison(
                code: "malformed_event",
                value: Array(#"{"code":22,"userId":""#.utf8) + [0xC3, 0x28] + Array("\"}".utf8)),
            Poison(code: "unknown_app", value: report, app: "nobody"),
            Poison(code: "malformed_event", value: report, app: nil),
            Poison(code: "malformed_report", value: Array(#"{"externalId":"u-1"}"#.utf8)),
            Poison(code: "missing_user", value: Array(#"{"code":22,"reason":"expired"}"#.utf8)),
            Poison(
                code: "challenge_expired",
                value: Array(#"{"nonce":"n-1","userId":"u-1","expiresOn":"2020-01-01T00:00:00Z"}"#.utf8),
                app: "dotdigital-push"),
            Poison(code: "not_fixable_by_token", value: Array(#"{"code":25,"userId":"u-1"}"#.utf8)),
        ]

        private static let report = Array(#"{"code":22,"userId":"u-1"}"#.utf8)

        @Test func `poison ends in the dead letters byte for byte, and the records around it are minted`() async throws
        {
            let shop = try await Shop.open()
            var records: [ProducerRecord] = []
            for (index, poison) in Self.poisons.enumerated() {
                records.append(
                    rawReport("braze-ios", #"{"code":22,"userId":"before-\#(index)"}"#, id: "before-\(index)"))
                var headers = [RecordHeader("poison", Array("\(index)".utf8))]
                if let app = poison.app { headers.append(RecordHeader("remint-app", Array(app.utf8))) }
                records.append(
                    ProducerRecord(
                        topic: "remint.invalidations", key: Array("key-\(index)".utf8), value: poison.value,
                        headers: headers))
                records.append(rawReport("braze-ios", #"{"code":22,"userId":"after-\#(index)"}"#, id: "after-\(index)"))
            }
            try await shop.produce(records)
            let worker = try await shop.startWorker()
            let outputs = try await shop.consumeOutputs { $0.count >= records.count }
            worker.terminate()
            await worker.waitForEnd()
            #expect(worker.status == 0, "\(worker.errorText)")

            let minted = Set(
                outputs.filter { $0.position.topic == "remint.tokens" }.compactMap { $0.member("event_id") })
            let expected = Set(Self.poisons.indices.flatMap { ["before-\($0)", "after-\($0)"] })
            #expect(minted == expected)
            for (index, poison) in Self.poisons.enumerated() {
                let letter = try #require(outputs.first { $0.header("poison") == "\(index)" }, "poison \(index)")
                #expect(letter.position.topic == "remint.dead-letters")
                #expect(letter.value == poison.value, "poison \(index)")
                #expect(letter.key == Array("key-\(index)".utf8))
                #expect(letter.header("remint-app") == poison.app)
                #expect(
                    letter.header("remint-error-code") == poison.code,
                    "poison \(index): \(letter.header("remint-error-detail") ?? "")")
                #expect(letter.header("remint-origin-topic") == "remint.invalidations")
                for name in ["stage", "detail"] { #expect(letter.header("remint-error-\(name)")?.isEmpty == false) }
                for name in ["partition", "offset", "timestamp"] {
                    #expect(letter.header("remint-origin-\(name)").flatMap(Int64.init) != nil)
                }
                for name in ["attempts", "failed-at", "redrives"] { #expect(letter.header("remint-\(name)") != nil) }
            }
            await shop.close()
        }

        /// Bytes that are the same on every run.
        private static func noise(_ count: Int) -> [UInt8] {
            var state: UInt64 = 42
            return (0..<count).map { _ in
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                return UInt8(truncatingIfNeeded: state >> 33)
            }
        }
    }
}
