import Records
import Testing

@Suite("Partitions for people") struct PartitionRangesTests {
    private func partitions(_ topic: String, _ numbers: [Int32]) -> [TopicPartition] {
        numbers.map { TopicPartition(topic: topic, partition: $0) }
    }

    @Test func `neighbors are a range, in any order`() {
        #expect(partitions("remint.invalidations", [5, 0, 1, 4, 2, 3]).ranges == "remint.invalidations/0-5")
        #expect(partitions("t", [0, 2, 3, 9, 3]).ranges == "t/0,2-3,9")
        #expect(partitions("t", [.max - 1, .max]).ranges == "t/2147483646-2147483647")
        #expect(partitions("t", [7]).ranges == "t/7")
        #expect([TopicPartition]().ranges.isEmpty)
    }

    @Test func `each topic has its own ranges`() {
        #expect((partitions("b", [1, 0]) + partitions("a", [3])).ranges == "a/3 b/0-1")
    }
}
