import CRdKafka

package struct TopicMetadata: Sendable, Equatable {
    package let name: String
    /// The number of its partitions; 0 if it does not exist.
    package let partitionCount: Int
    /// The number of copies of the partition with the fewest; 0 if the topic does not exist.
    package let replication: Int
    /// The partitions that have no leader just now.
    package let leaderless: Set<Int32>
    /// The reason why it cannot be used; nil if it can.
    package let error: KafkaError?

    fileprivate init(_ topic: rd_kafka_metadata_topic) {
        name = unsafe String(cString: topic.topic)
        partitionCount = unsafe Int(topic.partition_cnt)
        let partitions = unsafe UnsafeBufferPointer(start: topic.partitions, count: Int(topic.partition_cnt))
        replication = unsafe partitions.map { unsafe Int($0.replica_cnt) }.min() ?? 0
        leaderless = unsafe Set(partitions.filter { unsafe $0.leader < 0 }.map { unsafe $0.id })
        error = unsafe KafkaError(topic.err, in: "the topic \(name)")
    }

    fileprivate init(unknown name: String) {
        self.name = name
        partitionCount = 0
        replication = 0
        leaderless = []
        error = KafkaError(.unknownTopic, "the topic \(name)")
    }
}

extension ClientHandle {
    /// Asks the cluster about a topic.
    ///
    /// - Throws: `KafkaError` when no broker answers in time.
    func metadata(of topic: String, within limit: Duration) async throws(KafkaError) -> TopicMetadata {
        let milliseconds = limit.kafkaMilliseconds
        return try unsafe await blockingThrowing { (client) throws(KafkaError) in
            guard let handle = unsafe rd_kafka_topic_new(client, topic, nil) else {
                throw KafkaError(.invalidArgument, "\"\(topic)\" is not a topic's name")
            }
            defer { unsafe rd_kafka_topic_destroy(handle) }
            var metadata: UnsafePointer<rd_kafka_metadata>?
            if let error = unsafe KafkaError(
                rd_kafka_metadata(client, 0, handle, &metadata, milliseconds), in: "asking for the topic \(topic)")
            {
                throw error
            }
            guard let metadata = unsafe metadata else { throw KafkaError(.timedOut, "asking for the topic \(topic)") }
            defer { unsafe rd_kafka_metadata_destroy(metadata) }
            guard unsafe metadata.pointee.topic_cnt > 0 else { return TopicMetadata(unknown: topic) }
            return unsafe TopicMetadata(metadata.pointee.topics[0])
        }
    }

    /// Returns all topics that the cluster shows to this client. Asking creates none.
    ///
    /// - Throws: `KafkaError` when no broker answers in time.
    func topics(within limit: Duration) async throws(KafkaError) -> [TopicMetadata] {
        let milliseconds = limit.kafkaMilliseconds
        return try unsafe await blockingThrowing { (client) throws(KafkaError) in
            var metadata: UnsafePointer<rd_kafka_metadata>?
            if let error = unsafe KafkaError(
                rd_kafka_metadata(client, 1, nil, &metadata, milliseconds), in: "asking for the cluster's topics")
            {
                throw error
            }
            guard let metadata = unsafe metadata else { throw KafkaError(.timedOut, "asking for the cluster's topics") }
            defer { unsafe rd_kafka_metadata_destroy(metadata) }
            let topics = unsafe UnsafeBufferPointer(
                start: metadata.pointee.topics, count: Int(metadata.pointee.topic_cnt))
            return unsafe topics.map { unsafe TopicMetadata($0) }
        }
    }
}

extension Duration {
    /// The duration in whole milliseconds, within librdkafka's range. Never negative, which librdkafka takes for
    /// infinite.
    var kafkaMilliseconds: Int32 {
        let (seconds, attoseconds) = components
        if seconds >= Int64(Int32.max) / 1000 { return .max }
        return seconds < 0 ? 0 : Int32(max(0, seconds * 1000 + attoseconds / 1_000_000_000_000_000))
    }
}
