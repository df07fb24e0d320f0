import CRdKafka

/// An operator's changes to topics. The cluster's controller performs them; the embedded broker supports none of them.
extension KafkaProducer {
    /// Creates `topic`.
    ///
    /// - Parameters:
    ///   - replication: The number of copies of each partition; nil for the cluster's default.
    ///   - settings: The topic's own configuration, such as `max.message.bytes`.
    package func createTopic(
        _ topic: String, partitions: Int, replication: Int? = nil, settings: [String: String] = [:],
        within limit: Duration
    ) async throws(KafkaError) {
        let operation = "creating the topic \(topic)"
        try unsafe await administer(operation, within: limit) { (client, options, queue) throws(KafkaError) in
            var text = [CChar](repeating: 0, count: 512)
            // -1: the brokers' default replication factor (Kafka 2.4).
            let copies = replication.map { Int32(clamping: $0) } ?? -1
            guard
                let new = unsafe rd_kafka_NewTopic_new(topic, Int32(clamping: partitions), copies, &text, text.count)
            else {
                throw KafkaError(
                    .invalidArgument, "\(operation): not a topic's name, or too many partitions or copies of them")
            }
            defer { unsafe rd_kafka_NewTopic_destroy(new) }
            for (name, value) in settings {
                let code = unsafe rd_kafka_NewTopic_set_config(new, name, value)
                if let error = KafkaError(code, in: operation) { throw error }
            }
            var list: [OpaquePointer?] = unsafe [new]
            unsafe rd_kafka_CreateTopics(client, &list, 1, options, queue)
        } result: { event in
            var count = 0
            guard let result = unsafe rd_kafka_event_CreateTopics_result(event),
                let topics = unsafe rd_kafka_CreateTopics_result_topics(result, &count), count == 1
            else { return KafkaError(.invalidState, "\(operation): no answer") }
            return unsafe KafkaError(rd_kafka_topic_result_error(topics[0]), in: operation)
        }
    }

    /// Sets these settings of `topic`; all its other ones return to the cluster's defaults.
    package func configure(
        _ topic: String, settings: [String: String], within limit: Duration
    ) async throws(KafkaError) {
        let operation = "configuring the topic \(topic)"
        try unsafe await administer(operation, within: limit) { (client, options, queue) throws(KafkaError) in
            guard let resource = unsafe rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, topic) else {
                throw KafkaError(.invalidArgument, "\(operation): not a topic's name")
            }
            defer { unsafe rd_kafka_ConfigResource_destroy(resource) }
            for (name, value) in settings {
                let code = unsafe rd_kafka_ConfigResource_set_config(resource, name, value)
                if let error = KafkaError(code, in: operation) { throw error }
            }
            var list: [OpaquePointer?] = unsafe [resource]
            unsafe rd_kafka_AlterConfigs(client, &list, 1, options, queue)
        } result: { event in
            var count = 0
            guard let result = unsafe rd_kafka_event_AlterConfigs_result(event),
                let resources = unsafe rd_kafka_AlterConfigs_result_resources(result, &count), count == 1
            else { return KafkaError(.invalidState, "\(operation): no answer") }
            return unsafe KafkaError(rd_kafka_ConfigResource_error(resources[0]), in: operation)
        }
    }

    /// Deletes `topics` with everything in them.
    ///
    /// - Throws: `KafkaError`, the first one.
    package func deleteTopics(_ topics: [String], within limit: Duration) async throws(KafkaError) {
        let operation = "deleting topics"
        try unsafe await administer(operation, within: limit) { (client, options, queue) throws(KafkaError) in
            var list = unsafe topics.map { unsafe rd_kafka_DeleteTopic_new($0) }
            unsafe rd_kafka_DeleteTopics(client, &list, list.count, options, queue)
            unsafe rd_kafka_DeleteTopic_destroy_array(&list, list.count)
        } result: { event in
            var count = 0
            guard let result = unsafe rd_kafka_event_DeleteTopics_result(event),
                let found = unsafe rd_kafka_DeleteTopics_result_topics(result, &count)
            else { return KafkaError(.invalidState, "\(operation): no answer") }
            return (0..<count).lazy.compactMap { index in
                unsafe KafkaError(rd_kafka_topic_result_error(found[index]), in: operation)
            }.first
        }
    }

    /// Returns the effective settings of each of `topics`, which must exist: their own and the cluster's, by the
    /// topic's name. Settings that a broker keeps secret are left out.
    ///
    /// - Throws: `KafkaError`, the first one.
    package func settings(
        of topics: [String], within limit: Duration
    ) async throws(KafkaError) -> [String: [String: String]] {
        guard !topics.isEmpty else { return [:] }
        let operation = "asking for the topics' settings"
        return try unsafe await ask(operation, within: limit) { (client, options, queue) throws(KafkaError) in
            var list: [OpaquePointer?] = unsafe []
            for topic in topics {
                guard let resource = unsafe rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, topic) else {
                    continue
                }
                unsafe list.append(resource)
            }
            unsafe rd_kafka_DescribeConfigs(client, &list, list.count, options, queue)
            unsafe rd_kafka_ConfigResource_destroy_array(&list, list.count)
        } answer: { (event) throws(KafkaError) in
            var count = 0
            guard let result = unsafe rd_kafka_event_DescribeConfigs_result(event),
                let resources = unsafe rd_kafka_DescribeConfigs_result_resources(result, &count)
            else { throw KafkaError(.invalidState, "\(operation): no answer") }
            var found: [String: [String: String]] = [:]
            for index in 0..<count {
                guard let resource = unsafe resources[index], let name = unsafe rd_kafka_ConfigResource_name(resource)
                else { continue }
                let topic = unsafe String(cString: name)
                let code = unsafe rd_kafka_ConfigResource_error(resource)
                if let error = KafkaError(code, in: "\(operation): \(topic)") { throw error }
                found[topic] = unsafe Self.settings(of: resource)
            }
            return found
        }
    }

    private static func settings(of resource: OpaquePointer) -> [String: String] {
        var count = 0
        guard let entries = unsafe rd_kafka_ConfigResource_configs(resource, &count) else { return [:] }
        var found: [String: String] = [:]
        for index in 0..<count {
            guard let entry = unsafe entries[index], let name = unsafe rd_kafka_ConfigEntry_name(entry),
                let value = unsafe rd_kafka_ConfigEntry_value(entry)
            else { continue }
            unsafe found[String(cString: name)] = unsafe String(cString: value)
        }
        return found
    }

    /// Sends a request as `ask` does, for an answer that is success or an error.
    ///
    /// - Parameter result: A function that reads the error of the one requested change from the answer; nil for
    ///   success.
    private func administer(
        _ operation: String, within limit: Duration,
        _ request:
            @escaping @Sendable (OpaquePointer, _ options: OpaquePointer, _ queue: OpaquePointer) throws(KafkaError) ->
            Void,
        result: @escaping @Sendable (OpaquePointer) -> KafkaError?
    ) async throws(KafkaError) {
        try unsafe await ask(operation, within: limit, request) { (event) throws(KafkaError) in
            if let error = unsafe result(event) { throw error }
        }
    }

    /// Sends a request to the brokers concerned and waits for their answer, on the producer's own thread.
    ///
    /// - Parameters:
    ///   - request: A function that submits the request; librdkafka copies its arguments.
    ///   - answer: A function that reads the answer.
    func ask<Answer: Sendable>(
        _ operation: String, within limit: Duration,
        _ request:
            @escaping @Sendable (OpaquePointer, _ options: OpaquePointer, _ queue: OpaquePointer) throws(KafkaError) ->
            Void,
        answer: @escaping @Sendable (OpaquePointer) throws(KafkaError) -> Answer
    ) async throws(KafkaError) -> Answer {
        let milliseconds = limit.kafkaMilliseconds
        return try unsafe await client.blockingThrowing { (client) throws(KafkaError) in
            guard let options = unsafe rd_kafka_AdminOptions_new(client, RD_KAFKA_ADMIN_OP_ANY) else {
                throw KafkaError(.invalidState, "\(operation): no options")
            }
            defer { unsafe rd_kafka_AdminOptions_destroy(options) }
            var text = [CChar](repeating: 0, count: 512)
            // The controller answers when every broker knows, or when this is over.
            let codes = unsafe [
                rd_kafka_AdminOptions_set_request_timeout(options, milliseconds, &text, text.count),
                rd_kafka_AdminOptions_set_operation_timeout(options, milliseconds, &text, text.count),
            ]
            if let error = codes.lazy.compactMap({ KafkaError($0, in: operation) }).first { throw error }
            guard let queue = unsafe rd_kafka_queue_new(client) else {
                throw KafkaError(.invalidState, "\(operation): no queue")
            }
            defer { unsafe rd_kafka_queue_destroy(queue) }
            unsafe try request(client, options, queue)
            guard let event = unsafe rd_kafka_queue_poll(queue, milliseconds) else {
                throw KafkaError(.timedOut, "\(operation): no answer in time")
            }
            defer { unsafe rd_kafka_event_destroy(event) }
            if let error = unsafe KafkaError(rd_kafka_event_error(event), in: operation) { throw error }
            return try unsafe answer(event)
        }
    }
}
