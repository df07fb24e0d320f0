import Foundation
import Kafka
import ProgramTestSupport
import Testing

extension Scenarios {
    /// Events that are large in bytes, whatever their number.
    @Suite(.timeLimit(.minutes(5))) struct SizeTests {
        /// Four hundred come at once, for a partition of the embedded broker keeps 5 MB; more rounds by the environment.
        @Test func `hundreds of reports of a megabyte take no more memory than a few`() async throws {
            let rounds = ProcessInfo.processInfo.environment["REMINT_TEST_ROUNDS"].flatMap { Int($0) } ?? 1
            let partitions = 100
            let shop = try await Shop.open(partitions: partitions)
            let worker = try await shop.startWorker()
            let admin = try await AdminAPI(of: worker)
            let padding = String(repeating: "x", count: 1_000_000)
            let keys = keys(ofEach: partitions)
            var sent = 0
            for round in 0..<rounds {
                for part in 0..<4 {
                    try await shop.produce(
                        keys.enumerated().map { number, key in
                            let user = "user-\(round)-\(part)-\(number)"
                            return report(#"{"externalId":"\#(user)","padding":"\#(padding)"}"#, key: key)
                        })
                    sent += partitions
                }
                // A monitor that asks without a pause would be measured too.
                _ = try await shop.consumeOutputs { $0.count >= sent }
            }
            try await admin.wait("remint_outcomes_total", atLeast: Double(sent))
            #expect(try await admin.total("remint_outcomes_total") == Double(sent))
            #expect(try await admin.total("remint_outcomes_total", [#"outcome="minted""#]) == Double(sent))
            let peak = try peakMemory(of: worker)
            #expect(peak < 300 << 20, "\(peak >> 20) MB at the peak")
            await shop.close()
        }

        @Test func `ids of a hundred and thirty kilobytes hold up nobody else's answers`() async throws {
            let partitions = 100
            let shop = try await Shop.open(partitions: partitions)
            let long = String(repeating: "u", count: 130_000)
            let keys = keys(ofEach: partitions)
            let records = (0..<11_000).map { number in
                let user = number % 11 == 0 ? "\(long)\(number)" : "user-\(number)"
                return report(#"{"externalId":"\#(user)"}"#, key: keys[number % partitions])
            }
            let worker = try await shop.startWorker()
            let admin = try await AdminAPI(of: worker)
            let start = ContinuousClock.now
            try await shop.produce(records)
            _ = try await shop.consumeOutputs(of: ["remint.tokens"]) { $0.count >= 10_000 }
            let took = ContinuousClock.now - start
            // Ten seconds are what the release program is held to, which `REMINT_TEST_PROGRAM` names; a debug build on a machine that
            // is busy with something else takes longer.
            let isRelease = ProcessInfo.processInfo.environment["REMINT_TEST_PROGRAM"] != nil
            #expect(took < .seconds(isRelease ? 10 : 240), "\(took)")
            try await admin.wait("remint_outcomes_total", [#"outcome="dead_lettered""#], atLeast: 1000)
            #expect(try await admin.total("remint_outcomes_total") == 11_000)
            await shop.close()
        }

        private func report(_ json: String, key: String) -> ProducerRecord {
            ProducerRecord(
                topic: "remint.invalidations", key: Array(key.utf8), value: Array(json.utf8),
                headers: [RecordHeader("remint-app", Array("onesignal-shop".utf8))])
        }

        /// A key for each of `count` partitions, by librdkafka's default partitioner: CRC-32 of the key.
        private func keys(ofEach count: Int) -> [String] {
            var keys: [Int: String] = [:]
            var number = 0
            while keys.count < count {
                let key = "key-\(number)"
                number += 1
                keys[Int(crc32(key)) % count] = key
            }
            return (0..<count).compactMap { keys[$0] }
        }

        private func crc32(_ text: String) -> UInt32 {
            ~text.utf8.reduce(~0) { sum, byte in
                (0..<8).reduce(sum ^ UInt32(byte)) { sum, _ in sum >> 1 ^ (sum & 1 == 1 ? 0xEDB8_8320 : 0) }
            }
        }

        /// The most memory that a process had at once, in bytes.
        private func peakMemory(of program: Program) throws -> Int {
            let status = try String(contentsOfFile: "/proc/\(program.processID)/status", encoding: .utf8)
            let match = try #require(status.firstMatch(of: /VmHWM:\s+([0-9]+) kB/))
            return try #require(Int(match.1)) << 10
        }
    }
}
