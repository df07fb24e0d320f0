import Foundation
import Kafka
import ProgramTestSupport
import Testing

extension BrokerTests {
    /// A worker whose clock is ahead hands its partitions to one whose clock is right: versions go on above its.
    @Suite(.enabled(if: AnotherClock.isThere, AnotherClock.howToInstall), .timeLimit(.minutes(3)))
    struct ClockHandoverTests {
        private static let users = 50

        @Test func `a subject's versions only grow from a clock ahead to one that is right`() async throws {
            let shop = try await Shop(Shop.Wishes())
            do {
                // Just below an hour: brokers refuse records from further in the future.
                let before = try await mint("ahead", shop, by: try shop.startProgram(clock: "+59m"))
                let after = try await mint("right", shop, by: try shop.startProgram())
                let now = Int64(Date.now.timeIntervalSince1970 * 1_000_000)
                #expect(before.values.allSatisfy { $0 > now + 3_000_000_000 }, "the first clock was not ahead")
                for (key, version) in before { #expect(after[key].map { $0 > version } == true, "\(key)") }
                report("\(after.count) subjects, each with a newer version than an hour ahead")
            } catch {
                await shop.close()
                throw error
            }
            await shop.close()
        }

        /// Has `program` answer an event of each user, and stops it.
        ///
        /// - Returns: the newest version of each subject.
        private func mint(_ round: String, _ shop: Shop, by program: Program) async throws -> [String: Int64] {
            try #require(await program.wrote("partitions were assigned"), "\(program.lastLines)")
            let producer = try Cluster.makeProducer()
            let errors = await producer.deliver(
                (0..<Self.users).map {
                    EventMix.report(
                        "braze-ios", #"{"code":22,"userId":"u-\#($0)"}"#, id: "\(round)-\($0)", topic: shop.topics.live)
                })
            await producer.close(within: .seconds(5))
            try #require(errors.allSatisfy { $0 == nil })
            let partitions = shop.partitions(of: [shop.topics.tokens])
            let count = round == "ahead" ? Self.users : Self.users * 2
            try await TopicReader.wait(for: count, on: partitions)
            // Its timers are not to be trusted with a good-bye; the group notices by itself.
            program.kill()
            await program.waitForEnd()
            var newest: [String: Int64] = [:]
            for record in try await TopicReader.records(of: partitions) {
                guard let key = record.key.map({ String(decoding: $0, as: UTF8.self) }),
                    let version = record.headers.text("remint-version").flatMap({ Int64($0) })
                else { continue }
                newest[key] = version
            }
            #expect(newest.count == Self.users)
            return newest
        }
    }
}
