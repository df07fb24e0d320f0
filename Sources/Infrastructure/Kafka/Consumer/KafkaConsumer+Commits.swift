import CRdKafka

/// The commits of a consumer, by itself or in a producer's transaction.
extension KafkaConsumer {
    /// Commits `offsets`, each the next record to read, and waits for the broker's word.
    ///
    /// - Throws: `KafkaError`; with `.rebalanceInProgress`, `.illegalGeneration` or `.unknownMemberID` the partitions are
    ///   about to be someone else's.
    package func commit(_ offsets: [PartitionOffset]) async throws(KafkaError) {
        guard !offsets.isEmpty else { return }
        try unsafe await client.blockingThrowing { (client) throws(KafkaError) in
            let list = PartitionList(offsets)
            let code = unsafe rd_kafka_commit(client, list.pointer, 0)
            if let error = unsafe KafkaError(code, in: "committing offsets", of: client) { throw error }
            // The call succeeds where some partition did not.
            for index in unsafe 0..<Int(list.pointer.pointee.cnt) {
                let code = unsafe list.pointer.pointee.elems[index].err
                if let error = unsafe KafkaError(code, in: "committing offsets", of: client) { throw error }
            }
        }
    }

    /// Commits those of `offsets` whose partitions belong to this member, and skips the others: another member commits
    /// for the partitions that this one gave up.
    ///
    /// - Throws: `KafkaError`, as `commit` does.
    package func commitAssigned(_ offsets: [PartitionOffset]) async throws(KafkaError) {
        guard !isAssignmentLost else { return }
        try await commit(offsets.filter { assignment.contains($0.partition) })
    }

    /// Returns the group's identification of this member for a transaction. Call it again for each transaction.
    ///
    /// - Throws: `KafkaError` with `.unknownMemberID` before the group was joined: a broker takes offsets of no member
    ///   unchecked, and nothing would stop a zombie.
    package func groupMetadata() throws(KafkaError) -> ConsumerGroupMetadata {
        guard queue != nil else { throw .clientIsClosed }
        guard let member = unsafe rd_kafka_memberid(client.pointer) else { throw .isNoMember }
        defer { unsafe rd_kafka_mem_free(client.pointer, member) }
        guard unsafe member.pointee != 0 else { throw .isNoMember }
        guard let pointer = unsafe rd_kafka_consumer_group_metadata(client.pointer) else {
            throw KafkaError(.invalidState, "the consumer has no group")
        }
        return unsafe ConsumerGroupMetadata(owning: pointer)
    }

    /// Returns the group's metadata, as `groupMetadata()` does, for a transaction that commits `offsets`.
    ///
    /// - Throws: `KafkaError`; with `.assignmentLost` or `.unknownPartition` where they are not this member's to commit.
    package func groupMetadata(committing offsets: [PartitionOffset]) throws(KafkaError) -> ConsumerGroupMetadata {
        guard !isAssignmentLost else { throw KafkaError(.assignmentLost, "committing: the assignment was lost") }
        if let foreign = offsets.first(where: { !assignment.contains($0.partition) }) {
            throw KafkaError(.unknownPartition, "committing: \(foreign.partition) is not this member's")
        }
        return try groupMetadata()
    }

    /// Whether the assignment was lost, as it is once the consumer is closed: another member may have it already, so
    /// nothing may be committed.
    package var isAssignmentLost: Bool { unsafe queue == nil || rd_kafka_assignment_lost(client.pointer) == 1 }
}

/// A consumer's identity in its group, as a transaction sends it along (KIP-447).
///
/// `@unchecked Sendable`: never changed after the initializer; librdkafka copies it for a transaction, and it is freed
/// with the last reference.
@safe
package final class ConsumerGroupMetadata: @unchecked Sendable {
    let pointer: OpaquePointer

    init(owning pointer: OpaquePointer) { unsafe self.pointer = unsafe pointer }

    deinit { unsafe rd_kafka_consumer_group_metadata_destroy(pointer) }
}
