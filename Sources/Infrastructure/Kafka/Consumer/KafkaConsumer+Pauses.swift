import CRdKafka

/// Partitions that rest.
///
/// librdkafka 2.0.2 that pauses and resumes a partition while it still asks for the partition's start (`auto.offset.reset`) takes
/// the answer for an outdated one and asks again half a second later; records that came meanwhile are read twice then. So a
/// pause of a partition that has not begun is kept here (`pausing`) until its first record comes, which is held back.
extension KafkaConsumer {
    /// Pauses `partitions` until they are resumed. Records that were fetched from them and not returned yet are dropped
    /// and fetched again later. Partitions that are not this member's, or that are paused already, are skipped.
    package func pause(_ partitions: some Sequence<TopicPartition>) throws(KafkaError) {
        guard queue != nil else { throw .clientIsClosed }
        let running = Set(partitions).intersection(assignment).subtracting(paused)
        guard !running.isEmpty else { return }
        let begun = begun(of: running)
        try stop(begun)
        paused.formUnion(running)
        pausing.formUnion(running.subtracting(begun))
    }

    /// Resumes `partitions` behind the last record that was returned. Partitions that are not paused are skipped.
    package func resume(_ partitions: some Sequence<TopicPartition>) throws(KafkaError) {
        guard queue != nil else { throw .clientIsClosed }
        let waiting = Set(partitions).intersection(paused)
        guard !waiting.isEmpty else { return }
        let stopped = waiting.subtracting(pausing)
        if !stopped.isEmpty {
            let list = PartitionList(stopped.map { PartitionOffset($0, offset: Int64(RD_KAFKA_OFFSET_INVALID)) })
            if let error = unsafe KafkaError(rd_kafka_resume_partitions(client.pointer, list.pointer), in: "resuming") {
                throw error
            }
        }
        paused.subtract(waiting)
        pausing.subtract(waiting)
    }

    /// Returns the position of each of `partitions` behind the last record that was returned; one without is left out.
    func positions(of partitions: Set<TopicPartition>) -> [TopicPartition: Int64] {
        let list = PartitionList(partitions.map { PartitionOffset($0, offset: Int64(RD_KAFKA_OFFSET_INVALID)) })
        guard unsafe rd_kafka_position(client.pointer, list.pointer) == RD_KAFKA_RESP_ERR_NO_ERROR else { return [:] }
        let found = unsafe PartitionList.offsets(in: list.pointer).filter { $0.offset >= 0 }
        return Dictionary(found.map { ($0.partition, $0.offset) }) { first, _ in first }
    }

    /// Returns the held records that may be returned now, at most `limit` of them.
    func releaseHeld(limit: Int) -> [Event] {
        guard !held.isEmpty else { return [] }
        var released: [Event] = []
        held.removeAll { record in
            guard released.count < limit, !paused.contains(TopicPartition(record.position)) else { return false }
            released.append(.record(record))
            return true
        }
        return released
    }

    /// Removes from `events`, from `start` on, the first records of partitions that are about to be paused, and pauses
    /// these partitions.
    func holdBack(_ events: inout [Event], from start: Int) {
        var begun: Set<TopicPartition> = []
        let kept = events[start...].filter { event in
            guard case .record(let record) = event, paused.contains(TopicPartition(record.position)) else {
                return true
            }
            held.append(record)
            begun.insert(TopicPartition(record.position))
            return false
        }
        events.replaceSubrange(start..., with: kept)
        begun.formIntersection(pausing)
        // What cannot be paused is held back record by record, as long as it is so.
        guard !begun.isEmpty, (try? stop(begun)) != nil else { return }
        pausing.subtract(begun)
    }

    /// Forgets the held records of partitions that come or go, and of those that are not this member's any more.
    func forgetPauses(of rebalance: Rebalance) {
        let moved = Set(rebalance.partitions)
        paused.formIntersection(assignment)
        pausing.formIntersection(paused)
        held.removeAll { record in
            let partition = TopicPartition(record.position)
            return moved.contains(partition) || !assignment.contains(partition)
        }
    }

    /// Returns those of `partitions` that returned a record since they were assigned.
    private func begun(of partitions: Set<TopicPartition>) -> Set<TopicPartition> {
        let positions = positions(of: partitions)
        return partitions.filter { partition in
            guard let position = positions[partition] else { return false }
            return position != startPositions[partition]
        }
    }

    private func stop(_ partitions: Set<TopicPartition>) throws(KafkaError) {
        guard !partitions.isEmpty else { return }
        let list = PartitionList(partitions.map { PartitionOffset($0, offset: Int64(RD_KAFKA_OFFSET_INVALID)) })
        if let error = unsafe KafkaError(rd_kafka_pause_partitions(client.pointer, list.pointer), in: "pausing") {
            throw error
        }
    }
}
