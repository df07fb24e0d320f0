import Kafka
import Testing

extension BrokerTests {
    /// One failure costs one signature, and a user is never taken for another.
    @Suite(.timeLimit(.minutes(5))) struct CoalescingTests {
        private static let reports = 10_000

        @Test func `ten thousand reports of one user in a second cost one signature`() async throws {
            let (signatures, tokens) = try await answer { _ in "one-user" }
            #expect(signatures == 1)
            #expect(tokens == 1)
        }

        @Test func `ten thousand reports of as many users cost as many signatures`() async throws {
            let (signatures, tokens) = try await answer { "user-\($0)" }
            #expect(signatures == Double(Self.reports))
            #expect(tokens == Self.reports)
        }

        /// Lets one worker answer the reports of these users.
        private func answer(_ user: (Int) -> String) async throws -> (signatures: Double, tokens: Int) {
            let users = (0..<Self.reports).map(user)
            return try await Stage.play(workers: 1) { stage in
                let scrape = try await Scrape(stage.workers[0].program)
                let before = try await scrape.counter("remint_signatures_total")
                let records = users.enumerated().map { number, user in
                    // A key of its own: the reports of one user stand in all partitions.
                    EventMix.report(
                        "infobip-mobile", #"{"code":"JWT_TOKEN_EXPIRED","externalUserId":"\#(user)"}"#,
                        id: "report-\(number)", topic: stage.shop.topics.live)
                }
                let start = ContinuousClock.now
                let errors = try await stage.feed.deliver(records)
                let took = ContinuousClock.now - start
                #expect(errors.allSatisfy { $0 == nil })
                // Its offsets are the only trace a superseded report leaves.
                try await TopicReader.waitUntilCommitted(
                    stage.shop.partitions(of: [stage.shop.topics.live]), by: stage.shop.group)
                let total = ContinuousClock.now - start
                let signatures = try await scrape.counter("remint_signatures_total") - before
                await stage.retire()
                let tokens = try await TopicReader.records(
                    of: stage.shop.partitions(of: [stage.shop.topics.tokens])
                ).count
                report(
                    "\(records.count) reports of \(Set(users).count) users, produced in \(took), answered in \(total): "
                        + "\(Int(signatures)) signatures")
                return (signatures, tokens)
            }
        }
    }
}
