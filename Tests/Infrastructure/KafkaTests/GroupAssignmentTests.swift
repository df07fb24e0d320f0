import Testing

@testable import Kafka

struct GroupAssignmentTests {
    private static let whole: [UInt8] = [
        0, 1, 0, 0, 0, 1, 0, 1, UInt8(ascii: "t"), 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 1, 5, 0xFF, 0xFF, 0xFF, 0xFF,
    ]

    @Test func `an assignment names its partitions`() {
        let partitions = ConsumerGroup.Member.partitions(in: Self.whole)
        #expect(partitions.map(\.topic) == ["t", "t"] && partitions.map(\.partition) == [0, 261])
    }

    @Test func `an assignment that ends early, or is none, is no reason to stop`() {
        for end in 0..<Self.whole.count {
            #expect(ConsumerGroup.Member.partitions(in: Array(Self.whole.prefix(end))).count <= 2)
        }
        #expect(ConsumerGroup.Member.partitions(in: [UInt8](repeating: 0xFF, count: 64)).isEmpty)
    }
}
