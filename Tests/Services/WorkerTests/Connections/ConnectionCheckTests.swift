import AdapterKit
import BrazeAdapter
import Kafka
import StubServer
import Testing
import WorkerConfiguration
import WorkerTestSupport

@testable import Worker

@Suite(.timeLimit(.minutes(5))) struct ConnectionCheckTests {
    /// Returns the answers of a check of a broker with a worker's topics, without the `missing` ones, after `prepare`
    /// ran on the broker.
    private func answers(
        missing: Set<String> = [], asking times: Int = 1,
        _ prepare: (EmbeddedBroker) async throws -> Void = { _ in }
    ) async throws -> [ConnectionAnswer] {
        try await Brokers.with { broker in
            let configuration = try readConfiguration(workerConfiguration(brokers: broker.bootstrapServers))
            for topic in configuration.allTopics + [configuration.topics.control] where !missing.contains(topic) {
                try await broker.createTopic(topic, partitions: 2)
            }
            try await prepare(broker)
            for _ in 1..<times { await ConnectionCheck(configuration, limit: patience).run() }
            var told: [ConnectionAnswer] = []
            let answers = await ConnectionCheck(configuration, limit: patience).run { told.append($0) }
            #expect(told == answers)
            #expect(answers.map(\.question) == configuration.connectionQuestions)
            return answers
        }
    }

    /// The one answer that is not ok.
    private func failure(_ answers: [ConnectionAnswer]) throws -> ConnectionAnswer {
        let failures = answers.filter { !$0.isOK }
        try #require(failures.count == 1, "\(answers)")
        return failures[0]
    }

    @Test func `a broker with everything a worker needs passes the check`() async throws {
        let answers = try await answers()
        #expect(answers.allSatisfy { $0.isOK }, "\(answers)")
        #expect(answers.map(\.description).contains("topic remint.tokens: ok, 2 partitions, and it may be read"))
        #expect(answers.last?.description == "transactional id remint-check: ok, it can be registered")
    }

    @Test func `a coordinator that has just started is asked again`() async throws {
        let answers = try await answers { broker in
            try await broker.inject(.errors(.offsetFetch, [.notCoordinator, .coordinatorNotAvailable]))
        }
        #expect(answers.allSatisfy { $0.isOK }, "\(answers)")
    }

    @Test func `a group that refuses the worker's members is reported`() async throws {
        let answers = try await answers { broker in
            try await broker.inject(.errors(.joinGroup, [.groupAuthorizationFailed]))
        }
        let failure = try failure(answers)
        #expect(failure.question == .group("remint", of: "remint.invalidations"))
        #expect(failure.detail.contains("GROUP_AUTHORIZATION_FAILED"))
    }

    @Test func `a missing topic is reported and not created by the check`() async throws {
        let failure = try failure(try await answers(missing: ["remint.dead-letters"], asking: 2))
        #expect(failure.question == .topic("remint.dead-letters", isRead: false))
        #expect(failure.detail.contains("there is none") && failure.detail.contains("create it"))
    }

    @Test func `a topic the account may not see is reported with the remedy`() async throws {
        let answers = try await answers { broker in
            try await broker.inject(.topic("remint.tokens", .topicAuthorizationFailed))
        }
        let failure = try failure(answers)
        #expect(failure.question == .topic("remint.tokens", isRead: true))
        #expect(failure.detail.contains("TOPIC_AUTHORIZATION_FAILED") && failure.detail.contains("allow this account"))
    }

    @Test func `a dead broker address fails the check, and nothing more is asked of the brokers`() async throws {
        let port = try #require(DeafPort())
        let configuration = try readConfiguration(workerConfiguration(brokers: "127.0.0.1:\(port.number)"))
        let answers = await ConnectionCheck(configuration, limit: .seconds(5)).run()
        #expect(answers.allSatisfy { !$0.isOK })
        let first = try #require(answers.first)
        #expect(
            first.detail.contains("refused") && first.detail.contains("correct kafka.bootstrap_servers"), "\(first)")
        #expect(answers.dropFirst().allSatisfy { $0.detail == "not asked, for no broker answers" })
    }

    // MARK: Beside the brokers

    /// Returns the answers of a check of an app whose vendor is at `endpoint`, and whose key is with a signer at
    /// `socket`.
    private func answers(endpoint: String, socket: String) async throws -> [ConnectionAnswer] {
        let text = """
            kafka: { bootstrap_servers: embedded }
            keys: { push: { signer: "\(socket)" } }
            apps: { shop: { adapter: braze, key: push, lookup: { mode: verify, endpoint: "\(endpoint)", key: hunter2 } } }
            """
        let answers = await ConnectionCheck(try readConfiguration(text), limit: patience).run()
        #expect(!"\(answers)".contains("hunter2"))
        return answers
    }

    @Test func `an endpoint that answers passes the check, and a missing signer fails`() async throws {
        let stub = try #require(
            try BrazeAdapter(settings: .init()).stub(StubSetting(authorization: "Bearer hunter2", gone: [])))
        let server = try await StubServer.start(stub, now: { UnixTime(seconds: 1_800_000_000) })
        let folder = try TemporaryFolder()
        let answers = try await answers(endpoint: server.url, socket: "\(folder.path)/s")
        await server.stop()
        #expect(answers.map(\.isOK) == [true, false])
        #expect(answers.first?.detail.hasPrefix("it answers with status ") == true)
        #expect(
            answers.last?.description
                == "signer \(folder.path)/s: error: it cannot be reached: No such file or directory; start it with: remint signer"
        )
    }

    @Test func `an endpoint where nobody listens fails the check with the key to fix`() async throws {
        let port = try #require(DeafPort())
        let folder = try TemporaryFolder()
        let answers = try await answers(endpoint: "http://127.0.0.1:\(port.number)", socket: "\(folder.path)/s")
        let answer = try #require(answers.first)
        #expect(!answer.isOK)
        #expect(answer.detail.contains("the connection is refused"))
        #expect(answer.detail.contains("apps.shop.lookup"))
    }
}

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
