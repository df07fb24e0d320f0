import CRdKafka
import Glibc

/// A consumer group as its coordinator describes it.
public struct ConsumerGroup: Sendable, Equatable {
    /// One consumer.
    public struct Member: Sendable, Equatable {
        /// What the group calls it.
        public let id: String
        /// What the client calls itself.
        public let clientID: String
        /// Where it connects from, as the broker writes it.
        public let host: String
        /// Its partitions.
        public let partitions: [TopicPartition]

        /// A member with these parts.
        package init(id: String, clientID: String, host: String, partitions: [TopicPartition]) {
            self.id = id
            self.clientID = clientID
            self.host = host
            self.partitions = partitions
        }
    }

    /// The group's name.
    public let name: String
    /// Its state, as librdkafka writes it: `Stable`, `Empty`, `PreparingRebalance` and the like.
    public let state: String
    /// Its members; none of a group that nobody is in.
    public let members: [Member]

    /// A group with these parts.
    package init(name: String, state: String, members: [Member]) {
        self.name = name
        self.state = state
        self.members = members
    }
}

extension KafkaProducer {
    /// The consumer groups called `names`, by name; each is asked of its coordinator. One that does not exist is described as dead.
    /// The embedded broker describes none.
    ///
    /// - Throws: `KafkaError`, the first one.
    public func consumerGroups(
        _ names: [String], within limit: Duration
    ) async throws(KafkaError) -> [String: ConsumerGroup] {
        guard !names.isEmpty else { return [:] }
        let operation = "asking for the groups' members"
        return try unsafe await ask(operation, within: limit) { (client, options, queue) throws(KafkaError) in
            let copies = unsafe names.map { unsafe strdup($0) }
            defer { unsafe copies.forEach { unsafe free($0) } }
            var list = unsafe copies.map { unsafe UnsafePointer($0) }
            unsafe rd_kafka_DescribeConsumerGroups(client, &list, list.count, options, queue)
        } answer: { (event) throws(KafkaError) in
            var count = 0
            guard let result = unsafe rd_kafka_event_DescribeConsumerGroups_result(event),
                let groups = unsafe rd_kafka_DescribeConsumerGroups_result_groups(result, &count)
            else { throw KafkaError(.invalidState, "\(operation): no answer") }
            var found: [String: ConsumerGroup] = [:]
            for index in 0..<count {
                guard let group = unsafe groups[index] else { continue }
                if let error = unsafe rd_kafka_ConsumerGroupDescription_error(group),
                    let failure = unsafe KafkaError(rd_kafka_error_code(error), in: operation)
                {
                    throw failure
                }
                let described = unsafe ConsumerGroup(describing: group)
                found[described.name] = described
            }
            return found
        }
    }
}

extension ConsumerGroup {
    fileprivate init(describing group: OpaquePointer) {
        name = unsafe Self.text(rd_kafka_ConsumerGroupDescription_group_id(group))
        state = unsafe Self.text(rd_kafka_consumer_group_state_name(rd_kafka_ConsumerGroupDescription_state(group)))
        let count = unsafe rd_kafka_ConsumerGroupDescription_member_count(group)
        members = (0..<count).compactMap { index in
            unsafe rd_kafka_ConsumerGroupDescription_member(group, index).map { unsafe Member(describing: $0) }
        }
    }

    fileprivate static func text(_ characters: UnsafePointer<CChar>?) -> String {
        unsafe characters.map { unsafe String(cString: $0) } ?? ""
    }
}

extension ConsumerGroup.Member {
    fileprivate init(describing member: OpaquePointer) {
        id = unsafe ConsumerGroup.text(rd_kafka_MemberDescription_consumer_id(member))
        clientID = unsafe ConsumerGroup.text(rd_kafka_MemberDescription_client_id(member))
        host = unsafe ConsumerGroup.text(rd_kafka_MemberDescription_host(member))
        let list = unsafe rd_kafka_MemberDescription_assignment(member).flatMap {
            unsafe rd_kafka_MemberAssignment_partitions($0)
        }
        partitions = unsafe list.map { unsafe PartitionList.offsets(in: $0).map(\.partition) } ?? []
    }
}
