import CRdKafka

extension KafkaConsumer {
    /// Leaves the group for good and frees the client, as `close(within:keepsPlace:)` does.
    ///
    /// - Returns: false where that took longer than `limit`.
    @discardableResult
    package func close(within limit: Duration) async -> Bool { await close(within: limit, keepsPlace: false) }

    /// Leaves the group and frees the client. Nothing else may be called afterwards.
    ///
    /// - Parameter keepsPlace: Whether a static member's partitions wait for its successor. Others get them otherwise.
    /// - Returns: false where that took longer than `limit`; it goes on in the background and must not be waited for.
    @discardableResult
    package func close(within limit: Duration, keepsPlace: Bool) async -> Bool {
        let client = client, owesAnswer = owesAnswer, givesUpPlace = isStatic && !keepsPlace
        guard let queue else {
            // In line behind the first call.
            return await Deadline.run(within: limit) { done in unsafe client.enqueue { _ in done() } }
        }
        self.queue = nil
        // A task that waits for events must notice the end.
        queue.wakeup.signal()
        return await Deadline.run(within: limit) { done in
            unsafe client.enqueue { pointer in
                _ = client.beginClosing()
                let isAnswered = unsafe givesUpPlace && Self.giveUpPlace(pointer, client, queue, owesAnswer: owesAnswer)
                queue.close()
                unsafe Self.leave(pointer, client, owesAnswer: owesAnswer && !isAnswered)
                client.destroy()
                done()
            }
        }
    }

    /// Leaves the group, answering the revoke that comes with it. On the client's own thread.
    private static func leave(_ pointer: OpaquePointer, _ client: ClientHandle, owesAnswer: Bool) {
        guard let queue = unsafe rd_kafka_queue_new(pointer) else { return }
        defer { unsafe rd_kafka_queue_destroy(queue) }
        if unsafe KafkaError(taking: rd_kafka_consumer_close_queue(pointer, queue), in: "closing") != nil { return }
        // The group waits for the answer to a rebalance that the caller took and left, and would for ever.
        if owesAnswer { unsafe rd_kafka_assign(pointer, nil) }
        var looks = 0
        while unsafe rd_kafka_consumer_closed(pointer) == 0 {
            if let event = unsafe rd_kafka_queue_poll(queue, 100) {
                unsafe answerLast(event, pointer, client)
                continue
            }
            // The event of a rebalance may have been lost with the queue that was closed before.
            looks += 1
            if looks.isMultiple(of: looksBeforeAnswer) { unsafe rd_kafka_assign(pointer, nil) }
        }
    }

    /// The looks at a queue without an event, of 100 ms each, before a rebalance that nobody saw is answered.
    private static let looksBeforeAnswer = 10

    /// Leaves the group for good, on the client's own thread. librdkafka lets a static member that closes keep its place; one that
    /// gives up its subscription leaves it.
    ///
    /// - Returns: Whether a rebalance that was owed an answer has it.
    private static func giveUpPlace(
        _ pointer: OpaquePointer, _ client: ClientHandle, _ queue: EventQueue, owesAnswer: Bool
    ) -> Bool {
        guard unsafe isMember(pointer), unsafe rd_kafka_fatal_error(pointer, nil, 0) == RD_KAFKA_RESP_ERR_NO_ERROR
        else {
            return false
        }
        unsafe rd_kafka_unsubscribe(pointer)
        if owesAnswer { unsafe rd_kafka_assign(pointer, nil) }
        // The library forgets who it was when it sends the request to leave.
        let end = ContinuousClock.now + placeLimit
        while unsafe isMember(pointer), .now < end {
            guard let event = unsafe queue.poll(timeoutMilliseconds: 10) else { continue }
            unsafe answerLast(event, pointer, client)
        }
        return true
    }

    /// The time in which the library forgets its place, which needs no broker.
    private static let placeLimit = Duration.seconds(2)

    /// Whether the group's coordinator has accepted this consumer.
    package var isMember: Bool { unsafe queue == nil ? false : Self.isMember(client.pointer) }

    private static func isMember(_ pointer: OpaquePointer) -> Bool {
        guard let member = unsafe rd_kafka_memberid(pointer) else { return false }
        defer { unsafe rd_kafka_mem_free(pointer, member) }
        return unsafe member.pointee != 0
    }

    /// Handles an event of a consumer that ends: it gives up everything.
    private static func answerLast(_ event: OpaquePointer, _ pointer: OpaquePointer, _ client: ClientHandle) {
        if unsafe rd_kafka_event_type(event) == RD_KAFKA_EVENT_REBALANCE {
            unsafe rd_kafka_assign(pointer, nil)
        } else {
            _ = unsafe client.handle(common: event)
        }
        unsafe rd_kafka_event_destroy(event)
    }
}

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
