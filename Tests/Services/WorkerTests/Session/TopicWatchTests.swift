import AdapterKit
import Kafka
import Pipeline
import Testing
import WorkerTestSupport

@testable import Wiring
@testable import Worker

@Suite struct TopicWatchTests {
    private let time = UnixTime(milliseconds: 50_000)
    private let partitions = (0..<2).map { TopicPartition(topic: "control", partition: $0) }

    private func watch() throws -> TopicWatch {
        let configuration = try readConfiguration(workerConfiguration(brokers: "127.0.0.1:1"))
        return TopicWatch(
            KafkaProperties(configuration, bootstrapServers: "127.0.0.1:1"), group: "remint", logger: silent,
            now: { [time] in time })
    }

    @Test func `a topic that was created again is reported once, also if a partition is empty at first`() throws {
        var watch = try watch()
        let old = LogMark(offset: 0, timestamp: 1_000), new = LogMark(offset: 0, timestamp: 2_000)
        let looks: [[TopicPartition: LogMark]] = [
            [partitions[0]: old, partitions[1]: old], [partitions[0]: old, partitions[1]: old],
            // Nobody has written to the new one yet.
            [:], [partitions[0]: new], [partitions[0]: new, partitions[1]: new],
            [partitions[0]: new, partitions[1]: new],
        ]
        let told = looks.map { watch.isReplaced("control", $0, at: time) }
        #expect(told == [false, false, false, true, false, false])
    }

    @Test func `another topic's marks are kept, and retention and compaction are no new log`() throws {
        var watch = try watch()
        let other = TopicPartition(topic: "tokens", partition: 0)
        let mark = LogMark(offset: 4, timestamp: 1_000)
        let told = [
            watch.isReplaced("tokens", [other: mark], at: time),
            watch.isReplaced("control", [partitions[0]: mark], at: time),
            watch.isReplaced("control", [partitions[0]: LogMark(offset: 9, timestamp: 1_500)], at: time),
            watch.isReplaced("control", [partitions[0]: LogMark(offset: 0, timestamp: 1_600)], at: time),
            watch.isReplaced("tokens", [other: mark], at: time),
            watch.isReplaced("tokens", [other: LogMark(offset: 4, timestamp: 1_001)], at: time),
        ]
        #expect(told == [false, false, false, true, false, true])
    }

    @Test func `the marks a reader began with are compared at the first look`() throws {
        var watch = try watch()
        watch.begin("control", [partitions[0]: LogMark(offset: 0, timestamp: 1_000)], at: time)
        let told = watch.isReplaced("control", [partitions[0]: LogMark(offset: 0, timestamp: 2_000)], at: time)
        #expect(told)
    }
}
