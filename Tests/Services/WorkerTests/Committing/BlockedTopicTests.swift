import Kafka
import Pipeline
import Testing
import WorkerConfiguration

@testable import Worker

@Suite(.timeLimit(.minutes(5))) struct BlockedTopicTests {
    @Test(arguments: [
        (EmbeddedBroker.ResponseError.topicAuthorizationFailed, "TOPIC_AUTHORIZATION_FAILED"),
        (.unknownTopicOrPartition, "_MSG_TIMED_OUT"),
    ])
    func `a topic that cannot be written is named with the reason until it is fixed`(
        error: EmbeddedBroker.ResponseError, code: String
    ) async throws {
        try await CommitBench.with { bench in
            try await bench.withProducer { producer in
                var events = Events(bench.configuration)
                let committer = bench.committer(producer)
                let topic = bench.configuration.topics.deadLetters
                let unit = try await events.unit([events.garbage(), events.garbage()])
                #expect(Ended(await committer.commit(unit)) == .committed)

                try await bench.broker.inject(.topic(topic, error))
                let result = await committer.commit(unit)
                #expect(Ended(result) == .blocked(topic, code))
                guard case .blocked(let blockage) = result else { return }
                #expect(await committer.isCleared(blockage).blockedCode != nil)

                try await bench.broker.inject(.topic(topic, nil))
                #expect(await committer.isCleared(blockage).isCleared)
                #expect(Ended(await committer.commit(unit)) == .committed)
            }
        }
    }

    /// librdkafka does not report which topic of a transaction it was. A check of the wrong one would find no fault,
    /// and everything would be signed and refused again.
    @Test(arguments: [EmbeddedBroker.ResponseError.topicAuthorizationFailed, .unknownTopicOrPartition])
    func `the blocked one of several topics is waited for`(error: EmbeddedBroker.ResponseError) async throws {
        try await CommitBench.with { bench in
            try await bench.withProducer { producer in
                var events = Events(bench.configuration)
                let committer = bench.committer(producer)
                let topics = bench.configuration.topics
                let unit = try await events.unit([events.challenge(1), events.garbage()])
                #expect(Ended(await committer.commit(unit)) == .committed)
                for topic in [topics.tokens, topics.deadLetters] {
                    try await bench.broker.inject(.topic(topic, error))
                    let result = await committer.commit(unit)
                    guard case .blocked(let blockage) = result else {
                        Issue.record("\(topic): \(Ended(result))")
                        return
                    }
                    #expect(blockage.topic.contains(topic))
                    #expect(await committer.isCleared(blockage).blockedCode != nil, "\(topic)")
                    try await bench.broker.inject(.topic(topic, nil))
                    #expect(await committer.isCleared(blockage).isCleared, "\(topic)")
                    #expect(Ended(await committer.commit(unit)) == .committed)
                }
            }
        }
    }

    @Test func `a producer that was fenced meanwhile fails when the topic is checked`() async throws {
        try await CommitBench.with { bench in
            try await bench.withProducer { producer in
                var events = Events(bench.configuration)
                let committer = bench.committer(producer)
                let topic = bench.configuration.topics.deadLetters
                let unit = try await events.unit([events.garbage()])
                try await bench.broker.inject(.topic(topic, .topicAuthorizationFailed))
                guard case .blocked(let blockage) = await committer.commit(unit) else {
                    Issue.record("not blocked")
                    return
                }
                try await bench.broker.inject(.topic(topic, .producerFenced))
                guard case .fenced = await committer.isCleared(blockage) else {
                    Issue.record("not fenced")
                    return
                }
                guard case .fenced = await committer.isCleared(blockage) else {
                    Issue.record("not fenced the second time")
                    return
                }
            }
        }
    }
}
