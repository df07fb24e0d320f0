import Kafka
import Pipeline
import Testing
import WorkerTestSupport

@testable import Wiring
@testable import Worker

@Suite(.timeLimit(.minutes(10))) struct LaneConsumersTests {
    @Test(arguments: Lane.allCases)
    func `the consumers of a worker that cannot make one of them leave their groups`(_ failing: Lane) async throws {
        try await CommitBench.with(joining: []) { bench in
            var made: [KafkaConsumer] = []
            do throws(KafkaError) {
                _ = try await LaneConsumers.make { (lane) throws(KafkaError) in
                    // librdkafka takes no empty name of a topic.
                    let topics = lane == failing ? [""] : bench.configuration.topics(of: lane)
                    let consumer = try KafkaConsumer(
                        bench.properties.consumer(of: lane), topics: topics, logger: silent)
                    made.append(consumer)
                    return consumer
                }
                Issue.record("a consumer of no topic was made")
            } catch { #expect(error.code == .invalidArgument) }
            #expect(made.count == Lane.allCases.firstIndex(of: failing))
            // A closed consumer's assignment counts as lost.
            for consumer in made { #expect(await consumer.isAssignmentLost) }
        }
    }
}
