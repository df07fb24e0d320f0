import Pipeline
import Testing
import WorkerTestSupport

@testable import Kafka
@testable import Wiring
@testable import Worker

@Suite(.timeLimit(.minutes(5))) struct LaneConsumersTests {
    @Test func `the time of the last record counts, whatever came behind it`() {
        func record(_ offset: Int64, at time: Int64?) -> KafkaConsumer.Event {
            .record(
                ConsumedRecord(
                    position: RecordPosition(topic: "t", partition: 0, offset: offset), timestamp: time,
                    isAppendTime: false, body: RecordBody(key: nil, value: [], headers: [])))
        }
        let end = KafkaConsumer.Event.endOfPartition(TopicPartition(topic: "t", partition: 0), at: 2)
        let time = RecordTime(milliseconds: 20, isAppendTime: false)
        #expect(LaneConsumers.time(of: [record(0, at: 10), record(1, at: 20), end, end]) == time)
        #expect(LaneConsumers.time(of: [end, record(1, at: 20), record(2, at: 15)]) == time)
        #expect(LaneConsumers.time(of: [record(1, at: nil)]) == nil)
        #expect(LaneConsumers.time(of: [end]) == nil && LaneConsumers.time(of: []) == nil)
    }

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
