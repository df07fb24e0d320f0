import CRdKafka

/// The questions and commands about a consumer's partitions.
extension KafkaConsumer {
    /// Asks the brokers for the first and the end offset of `partition`; the end is the offset the next record will get.
    ///
    /// - Throws: `KafkaError` when none answers within `limit`.
    package func bounds(
        of partition: TopicPartition, within limit: Duration
    ) async throws(KafkaError) -> Range<Int64> {
        let milliseconds = limit.kafkaMilliseconds
        return try unsafe await client.blockingThrowing { (client) throws(KafkaError) in
            var low: Int64 = 0
            var high: Int64 = 0
            let code = unsafe rd_kafka_query_watermark_offsets(
                client, partition.topic, partition.partition, &low, &high, milliseconds)
            if let error = KafkaError(code, in: "asking for the bounds of \(partition)") { throw error }
            return low..<max(low, high)
        }
    }

    /// Returns the offsets that the group committed for `partitions`, each the next record to read; a partition without
    /// one is left out.
    ///
    /// - Throws: `KafkaError` when the group's coordinator does not answer within `limit`.
    package func committed(
        _ partitions: [TopicPartition], within limit: Duration
    ) async throws(KafkaError) -> [TopicPartition: Int64] {
        let offsets = try await committedOffsets(partitions, within: limit)
        return Dictionary(offsets.map { ($0.partition, $0.offset) }) { first, _ in first }
    }

    /// Returns the group's committed offsets, as `committed` does, with the metadata of each.
    ///
    /// - Throws: `KafkaError` when the group's coordinator does not answer within `limit`.
    package func committedOffsets(
        _ partitions: [TopicPartition], within limit: Duration
    ) async throws(KafkaError) -> [PartitionOffset] {
        let milliseconds = limit.kafkaMilliseconds
        return try unsafe await client.blockingThrowing { (client) throws(KafkaError) in
            let list = PartitionList(partitions.map { PartitionOffset($0, offset: Int64(RD_KAFKA_OFFSET_INVALID)) })
            let code = unsafe rd_kafka_committed(client, list.pointer, milliseconds)
            if let error = unsafe KafkaError(code, in: "asking for committed offsets", of: client) { throw error }
            // The call succeeds where a partition's offset is still part of an open transaction.
            for index in unsafe 0..<Int(list.pointer.pointee.cnt) {
                let code = unsafe list.pointer.pointee.elems[index].err
                if let error = unsafe KafkaError(code, in: "asking for committed offsets", of: client) { throw error }
            }
            return unsafe PartitionList.offsets(in: list.pointer).filter { $0.offset >= 0 }
        }
    }

    /// Returns the offset of each partition's first record that is not older than `time`, in milliseconds since 1970; a
    /// partition without one, or whose broker does not know times, is left out.
    ///
    /// - Throws: `KafkaError` when the brokers do not answer within `limit`.
    package func offsets(
        of partitions: [TopicPartition], notBefore time: Int64, within limit: Duration
    ) async throws(KafkaError) -> [TopicPartition: Int64] {
        let milliseconds = limit.kafkaMilliseconds
        return try unsafe await client.blockingThrowing { (client) throws(KafkaError) in
            // The list's offsets are the times that are asked for.
            let list = PartitionList(partitions.map { PartitionOffset($0, offset: time) })
            let code = unsafe rd_kafka_offsets_for_times(client, list.pointer, milliseconds)
            if let error = KafkaError(code, in: "asking for offsets by time") { throw error }
            let found = unsafe PartitionList.offsets(in: list.pointer).filter { $0.offset >= 0 }
            return Dictionary(found.map { ($0.partition, $0.offset) }) { first, _ in first }
        }
    }

    /// Returns the first and the end offset of each of `partitions`, as `bounds(of:within:)` does, with two questions
    /// for all of them; a partition whose leader does not answer is left out.
    ///
    /// - Throws: `KafkaError` when the brokers do not answer within `limit`.
    package func bounds(
        of partitions: [TopicPartition], within limit: Duration
    ) async throws(KafkaError) -> [TopicPartition: Range<Int64>] {
        guard !partitions.isEmpty else { return [:] }
        // What brokers take for the times of the first and of the next record (ListOffsets in Kafka's protocol).
        let starts = try await offsets(of: partitions, notBefore: -2, within: limit)
        let ends = try await offsets(of: partitions, notBefore: -1, within: limit)
        return starts.reduce(into: [:]) { bounds, entry in
            if let end = ends[entry.key] { bounds[entry.key] = entry.value..<max(entry.value, end) }
        }
    }

    /// Returns the number of offsets of each of `partitions` after the group's committed offset: the waiting records,
    /// and the marks of transactions among them. It leaves out a partition whose leader does not answer.
    ///
    /// - Parameter known: the group's committed offsets; nil to ask the coordinator.
    /// - Throws: `KafkaError` when brokers or the group's coordinator do not answer within `limit`.
    package func lag(
        of partitions: [TopicPartition], after known: [TopicPartition: Int64]? = nil, within limit: Duration
    ) async throws(KafkaError) -> [TopicPartition: Int64] {
        guard !partitions.isEmpty else { return [:] }
        var committed = known ?? [:]
        if known == nil { committed = try await self.committed(partitions, within: limit) }
        let bounds = try await bounds(of: partitions, within: limit)
        return bounds.reduce(into: [:]) { lag, entry in
            let (partition, bounds) = entry
            lag[partition] = max(0, bounds.upperBound - max(committed[partition] ?? 0, bounds.lowerBound))
        }
    }

    /// The ends of the assigned partitions, each the offset the next record will get, as the last fetch learned them.
    /// Asks nobody; a partition that was not fetched from yet is not among them.
    package var knownEnds: [TopicPartition: Int64] {
        guard queue != nil else { return [:] }
        var ends: [TopicPartition: Int64] = [:]
        for partition in assignment {
            var low: Int64 = 0
            var high: Int64 = 0
            let code = unsafe rd_kafka_get_watermark_offsets(
                client.pointer, partition.topic, partition.partition, &low, &high)
            if code == RD_KAFKA_RESP_ERR_NO_ERROR, high >= 0 { ends[partition] = high }
        }
        return ends
    }
}
