import Testing

@testable import Kafka

/// Tests of the conversion of a group's events.
@Suite struct RebalanceTests {
    private let first = TopicPartition(topic: "t", partition: 0)
    private let second = TopicPartition(topic: "t", partition: 1)

    @Test func `partitions that come and go are those that the event names`() {
        let assigned = Rebalance(.assignPartitions, [first], assigned: [second], isLost: false)
        #expect(assigned == Rebalance(kind: .assigned, partitions: [first]))
        for isLost in [false, true] {
            let revoked = Rebalance(.revokePartitions, [first], assigned: [first, second], isLost: isLost)
            #expect(revoked == Rebalance(kind: .revoked(isLost: isLost), partitions: [first]))
        }
    }

    /// Whoever holds events of these partitions must learn that they are gone.
    @Test func `a group that cannot agree revokes every partition at once`() {
        for code in [KafkaError.Code.illegalGeneration, .topicAuthorizationFailed, .unknownMemberID] {
            let rebalance = Rebalance(code, [], assigned: [second, first], isLost: false)
            #expect(rebalance == Rebalance(kind: .revoked(isLost: true), partitions: [first, second]))
        }
        #expect(
            Rebalance(.transport, [first], assigned: [], isLost: false)
                == Rebalance(kind: .revoked(isLost: true), partitions: []))
    }
}
