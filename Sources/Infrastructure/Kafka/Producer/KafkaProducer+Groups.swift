import CRdKafka

/// A consumer group as its coordinator describes it.
package struct ConsumerGroup: Sendable, Equatable {
    package struct Member: Sendable, Equatable {
        package let id: String
        package let clientID: String
        /// The host that it connects from, as the broker writes it.
        package let host: String
        package let partitions: [TopicPartition]

        package init(id: String, clientID: String, host: String, partitions: [TopicPartition]) {
            self.id = id
            self.clientID = clientID
            self.host = host
            self.partitions = partitions
        }
    }

    package let name: String
    /// The group's state, as librdkafka writes it: `Stable`, `Empty`, `PreparingRebalance` and the like.
    package let state: String
    /// The group's members; empty for a group without any.
    package let members: [Member]

    package init(name: String, state: String, members: [Member]) {
        self.name = name
        self.state = state
        self.members = members
    }
}

extension KafkaProducer {
    /// Returns the consumer groups `names`, as `KafkaConsumer.consumerGroups` does.
    ///
    /// - Throws: `KafkaError`, also where some brokers do not answer and the others do not know the group.
    package func consumerGroups(
        _ names: [String], within limit: Duration
    ) async throws(KafkaError) -> [String: ConsumerGroup] {
        try await client.consumerGroups(names, within: limit)
    }
}

extension KafkaConsumer {
    /// Returns the consumer groups `names`, by name, as their coordinators describe them. A group that does not exist,
    /// or that this account may not see (DESCRIBE on the group), is left out. The embedded broker describes none.
    ///
    /// It uses the call from before the Admin API: calls of the Admin API that a coordinator answers end the process if
    /// the connection to it breaks (librdkafka's issue 4605).
    ///
    /// - Throws: `KafkaError`, also where some brokers do not answer and the others do not know the group.
    package func consumerGroups(
        _ names: [String], within limit: Duration
    ) async throws(KafkaError) -> [String: ConsumerGroup] {
        try await client.consumerGroups(names, within: limit)
    }
}

extension ClientHandle {
    fileprivate func consumerGroups(
        _ names: [String], within limit: Duration
    ) async throws(KafkaError) -> [String: ConsumerGroup] {
        let milliseconds = limit.kafkaMilliseconds
        var found: [String: ConsumerGroup] = [:]
        for name in names {
            found[name] = try unsafe await blockingThrowing { (client) throws(KafkaError) in
                var list: UnsafePointer<rd_kafka_group_list>?
                let code = unsafe rd_kafka_list_groups(client, name, &list, milliseconds)
                defer { if let list = unsafe list { unsafe rd_kafka_group_list_destroy(list) } }
                let operation = "asking for the members of the group \(name)"
                if let groups = unsafe list?.pointee {
                    for index in unsafe 0..<Int(groups.group_cnt) {
                        let group = unsafe groups.groups[index]
                        guard unsafe ConsumerGroup.text(group.group) == name else { continue }
                        if let error = unsafe KafkaError(group.err, in: operation) { throw error }
                        return unsafe ConsumerGroup(describing: group)
                    }
                }
                // A broker that is away may be the one that coordinates it.
                if let error = KafkaError(code, in: operation) { throw error }
                return nil
            }
        }
        return found
    }
}

extension ConsumerGroup {
    fileprivate init(describing group: rd_kafka_group_info) {
        name = unsafe Self.text(group.group)
        state = unsafe Self.text(group.state)
        members = unsafe (0..<Int(group.member_cnt)).map { unsafe Member(describing: group.members[$0]) }
    }

    fileprivate static func text(_ characters: UnsafePointer<CChar>?) -> String {
        unsafe characters.map { unsafe String(cString: $0) } ?? ""
    }
}

extension ConsumerGroup.Member {
    fileprivate init(describing member: rd_kafka_group_member_info) {
        id = unsafe ConsumerGroup.text(member.member_id)
        clientID = unsafe ConsumerGroup.text(member.client_id)
        host = unsafe ConsumerGroup.text(member.client_host)
        let bytes = unsafe UnsafeRawBufferPointer(
            start: member.member_assignment, count: max(0, Int(member.member_assignment_size)))
        partitions = unsafe Self.partitions(in: Array(bytes))
    }

    /// Returns the partitions in an assignment of Kafka's consumer protocol: a version, then topics with their
    /// partitions (KIP-429). An assignment that ends early, or of another protocol, has the partitions up to there.
    package static func partitions(in assignment: [UInt8]) -> [TopicPartition] {
        var rest = assignment[...]
        func number(_ bytes: Int) -> Int? {
            guard rest.count >= bytes else { return nil }
            defer { rest = rest.dropFirst(bytes) }
            return rest.prefix(bytes).reduce(0) { $0 << 8 | Int($1) }
        }
        var found: [TopicPartition] = []
        guard number(2) != nil, let topics = number(4) else { return found }
        for _ in 0..<topics {
            guard let length = number(2), rest.count >= length else { return found }
            let topic = String(decoding: rest.prefix(length), as: UTF8.self)
            rest = rest.dropFirst(length)
            guard let count = number(4) else { return found }
            for _ in 0..<count {
                guard let partition = number(4) else { return found }
                found.append(TopicPartition(topic: topic, partition: Int32(truncatingIfNeeded: partition)))
            }
        }
        return found
    }
}
