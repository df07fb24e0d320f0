import Testing
import WorkerConfiguration
import WorkerTestSupport

@testable import Worker

@Suite struct ConnectionQuestionTests {
    private func questions(_ more: String = "") throws -> [ConnectionQuestion] {
        let sections = "worker: { retries: { tiers: [10s] } }\n\(more)"
        return try readConfiguration(workerConfiguration(brokers: "127.0.0.1:9092", more: sections))
            .connectionQuestions
    }

    @Test func `the connection check covers all a worker reads and writes, in the order of fixing it`() throws {
        #expect(
            try questions() == [
                .brokers("127.0.0.1:9092"), .topic("remint.invalidations", isRead: true),
                .topic("remint.invalidations.bulk", isRead: true), .topic("remint.tokens", isRead: true),
                .topic("remint.dead-letters", isRead: false), .topic("remint.retries.10s", isRead: true),
                .topic("remint.control", isRead: true), .group("remint", of: "remint.invalidations"),
                .group("remint-retries", of: "remint.retries.10s"),
                .group("remint-bulk", of: "remint.invalidations.bulk"), .transactionalID("remint-check"),
            ])
    }

    @Test func `the connection check asks for no transactional id where there are no transactions`() throws {
        let questions = try questions("delivery: at_least_once")
        #expect(!questions.contains(.transactionalID("remint-check")))
        #expect(questions.contains(.group("remint", of: "remint.invalidations")))
    }

    @Test func `the connection check asks each account and signer once, and nothing of an embedded broker`() throws {
        let text = """
            kafka: { bootstrap_servers: embedded }
            keys: { a: { signer: /run/s }, b: { signer: /run/s }, c: { signer: /run/r }, d: { path: d } }
            apps:
              one: { adapter: braze, key: a, lookup: { mode: verify, endpoint: "https://rest.example", key: k } }
              two: { adapter: braze, key: b, lookup: { mode: verify, endpoint: "https://rest.example", key: k } }
              six: { adapter: braze, key: c, lookup: { mode: verify, endpoint: "https://rest.example", key: l } }
              off: { adapter: braze, key: d }
            """
        #expect(
            try readConfiguration(text).connectionQuestions == [
                .endpoint(account: "one"), .endpoint(account: "six"), .signer("/run/r"), .signer("/run/s"),
            ])
    }
}
