import Foundation
import Kafka
import ProgramTestSupport
import ServiceLifecycle
import Testing

extension BrokerTests {
    /// A worker whose clock is ahead hands its partitions to one whose clock is right: versions go on above its.
    @Suite(.timeLimit(.minutes(5))) struct ClockHandoverTests {
        private static let users = 50
        /// Just below an hour, in seconds: brokers refuse records from further in the future.
        private static let ahead: Int64 = 59 * 60

        @Test func `a subject's versions only grow from a clock ahead to one that is right`() async throws {
            try await Shop.open { shop in
                let before = try await mint("ahead", shop, clock: Self.ahead, total: Self.users)
                let after = try await mint("right", shop, clock: 0, total: Self.users * 2)
                let now = Int64(Date.now.timeIntervalSince1970 * 1_000_000)
                #expect(before.count == Self.users)
                #expect(before.values.allSatisfy { $0 > now + 3_000_000_000 }, "the first clock was not ahead")
                for (key, version) in before { #expect(after[key].map { $0 > version } == true, "\(key)") }
                report("\(after.count) subjects, each with a version newer than those of the clock ahead")
            }
        }

        /// Has a worker in this process answer an event of each user, and stops it.
        ///
        /// - Parameters:
        ///   - clock: by how many seconds its clock is ahead.
        ///   - total: how many tokens there are then.
        /// - Returns: the newest version of each subject.
        private func mint(_ round: String, _ shop: Shop, clock: Int64, total: Int) async throws -> [String: Int64] {
            let service = try shop.service(ahead: clock)
            let group = ServiceGroup(configuration: .init(services: [.init(service: service)], logger: quiet))
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                tasks.addTask { try await group.run() }
                try await shop.deliver(
                    (0..<Self.users).map {
                        EventMix.report(
                            "braze-ios", #"{"code":22,"userId":"u-\#($0)"}"#, id: "\(round)-\($0)",
                            topic: shop.topics.live)
                    })
                try await shop.waitForTokens(total)
                await group.triggerGracefulShutdown()
                try await tasks.waitForAll()
            }
            var newest: [String: Int64] = [:]
            for record in try await shop.tokens() {
                guard let key = record.key.map({ String(decoding: $0, as: UTF8.self) }),
                    let version = record.headers.text("remint-version").flatMap({ Int64($0) })
                else { continue }
                newest[key] = version
            }
            return newest
        }
    }
}
