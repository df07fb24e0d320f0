import CRdKafka
package import Logging

/// A member of a consumer group.
///
/// One task at a time calls `events`; whatever it returns is handled before the next call. A `Rebalance` among the events
/// must be answered, even with nothing to do, and `events` must be called at least every third of
/// `max.poll.interval.ms`, or the group takes the partitions away.
package actor KafkaConsumer: KafkaClient {
    package enum Event: Sendable {
        case record(ConsumedRecord)
        /// Partitions come or go; always the last of the events returned together.
        case rebalance(Rebalance)
        /// Everything before the offset was read of a partition, and a reader gets no more of it now: it ends there, or a reader of
        /// committed records waits there for an open transaction. More may come. Only with `enable.partition.eof`.
        case endOfPartition(TopicPartition, at: Int64)
        /// Something went wrong. Only a fatal one ends the consumer; the library repairs the others by itself.
        case error(KafkaError)
    }

    let client: ClientHandle
    let prompt: FetchPrompt
    var queue: EventQueue?
    let topics: [String]
    /// Whether the group keeps this member's place for a session's length after its end (KIP-345).
    let isStatic: Bool
    var assignment: Set<TopicPartition> = []
    /// Topic names by the address of librdkafka's own copy, which lives as long as the topic: a string per topic, not per
    /// record.
    var names: [UInt: String] = [:]
    /// True if a rebalance was returned and not answered.
    var owesAnswer = false
    /// The paused partitions. They are stored here because librdkafka 2.0.2 delivers a record again when a partition
    /// that is not paused is resumed.
    var paused: Set<TopicPartition> = []
    /// The partitions of `paused` that librdkafka does not pause yet, because they have not begun.
    var pausing: Set<TopicPartition> = []
    /// Records of `paused` that came before the library paused them.
    var held: [ConsumedRecord] = []
    /// The library's positions in partitions at their assignment: leftovers of an earlier assignment.
    var startPositions: [TopicPartition: Int64] = [:]
    /// The time between two looks at whether a heartbeat is due; nil for a member of no group.
    private let heartbeatInterval: Duration?
    private var nextHeartbeat = ContinuousClock.now

    /// Joins a group.
    ///
    /// - Parameters:
    ///   - properties: The properties of librdkafka; `bootstrap.servers` and `group.id` are needed.
    ///   - topics: The topics to consume.
    ///   - wakeup: A wake-up that is signaled when there is something to take. Consumers that one task serves share it.
    /// - Throws: `KafkaError` when librdkafka refuses a property or a topic's name.
    package init(
        _ properties: ClientProperties, topics: [String], wakeup: Wakeup = Wakeup(), logger: Logger
    ) throws(KafkaError) {
        try self.init(properties, .subscription(topics), wakeup, logger)
    }

    /// Reads `partitions` from the given offsets on, as a member of no group: nobody takes them away, and nothing is
    /// committed. An offset of 0 is the first record there is.
    ///
    /// - Throws: `KafkaError` when librdkafka refuses a property or a partition.
    package init(
        _ properties: ClientProperties, reading partitions: [PartitionOffset], logger: Logger
    ) throws(KafkaError) {
        try self.init(properties, .partitions(partitions), Wakeup(), logger)
    }

    /// The source of a consumer's records: a subscription, whose partitions the group assigns, or fixed partitions.
    private enum Intake {
        case subscription([String])
        case partitions([PartitionOffset])
    }

    private init(
        _ properties: ClientProperties, _ intake: Intake, _ wakeup: Wakeup, _ logger: Logger
    ) throws(KafkaError) {
        let events =
            RD_KAFKA_EVENT_FETCH | RD_KAFKA_EVENT_REBALANCE | RD_KAFKA_EVENT_ERROR | RD_KAFKA_EVENT_LOG
            | RD_KAFKA_EVENT_OAUTHBEARER_TOKEN_REFRESH
        client = try ClientHandle(RD_KAFKA_CONSUMER, properties, events: events, logger: logger)
        prompt = FetchPrompt(properties)
        isStatic = properties["group.instance.id"] != nil
        switch intake {
        case .subscription(let topics):
            self.topics = topics
            heartbeatInterval = .milliseconds(properties["heartbeat.interval.ms"].flatMap { Int($0) } ?? 3000) / 2
        case .partitions(let offsets):
            topics = Array(Set(offsets.map(\.partition.topic)))
            heartbeatInterval = nil
            assignment = Set(offsets.map(\.partition))
        }
        unsafe rd_kafka_poll_set_consumer(client.pointer)
        guard let queue = unsafe rd_kafka_queue_get_consumer(client.pointer) else {
            let handle = client
            unsafe handle.enqueue { _ in handle.destroy() }
            throw KafkaError(.invalidArgument, "a consumer needs a group.id")
        }
        self.queue = unsafe EventQueue(owning: queue, wakeup: wakeup)
        if let error = unsafe Self.begin(intake, client.pointer) {
            let handle = client, events = self.queue
            unsafe handle.enqueue { _ in
                events?.close()
                handle.destroy()
            }
            self.queue = nil
            throw error
        }
    }

    private static func begin(_ intake: Intake, _ client: OpaquePointer) -> KafkaError? {
        switch intake {
        case .subscription(let topics):
            let list = PartitionList(topics: topics)
            return unsafe KafkaError(rd_kafka_subscribe(client, list.pointer), in: "subscribing", of: client)
        case .partitions(let offsets):
            let list = PartitionList(offsets)
            return unsafe KafkaError(rd_kafka_assign(client, list.pointer), in: "taking over partitions")
        }
    }

    /// Reads `partitions` from the given offsets on: for a consumer that was made to read none yet, as a member of no group. One that
    /// has asked for the topic's metadata begins at once; any other waits half a second for its library to look again.
    ///
    /// - Throws: `KafkaError` when librdkafka refuses a partition, and with `.invalidState` where some are read
    ///   already: with an assignment that replaces another, 2.0.2 may abort the process (rdkafka_assignment.c:872,
    ///   `rktp->rktp_started`).
    package func read(_ partitions: [PartitionOffset]) throws(KafkaError) {
        guard queue != nil else { throw .clientIsClosed }
        guard assignment.isEmpty else {
            throw KafkaError(.invalidState, "reading: it reads other partitions already; make another consumer")
        }
        if let error = unsafe Self.begin(.partitions(partitions), client.pointer) { throw error }
        assignment = Set(partitions.map(\.partition))
    }

    /// Reads `partitions` too, from the given offsets on: those that were added to a topic since `read`, or were left out of it.
    ///
    /// - Throws: `KafkaError` when librdkafka refuses a partition.
    package func readAlso(_ partitions: [PartitionOffset]) throws(KafkaError) {
        guard queue != nil else { throw .clientIsClosed }
        guard !assignment.isEmpty else { return try read(partitions) }
        let list = PartitionList(partitions.filter { !assignment.contains($0.partition) })
        if let error = unsafe KafkaError(
            taking: rd_kafka_incremental_assign(client.pointer, list.pointer), in: "taking over partitions")
        {
            throw error
        }
        assignment.formUnion(partitions.map(\.partition))
    }

    /// The partitions that are this member's.
    package var assignedPartitions: Set<TopicPartition> { assignment }

    /// Returns the events since the last call, up to `limit` of them. If there are none, it waits up to `wait`. The
    /// result is empty after `wait`, after a cancellation and once the consumer is closed.
    package func events(limit: Int, within wait: Duration) async -> [Event] {
        let end = ContinuousClock.now + .milliseconds(wait.kafkaMilliseconds)
        while let queue {
            let events = drain(queue, limit)
            let rest = end - .now
            // A wake-up may have nothing for the caller: a log line, or no event at all.
            guard events.isEmpty, rest > .zero, !Task.isCancelled else { return events }
            await queue.wakeup.wait(atMost: max(rest, .milliseconds(1)))
        }
        return []
    }

    /// Reports to the group that this member lives, for a caller that cannot take events just now. A rebalance waits.
    ///
    /// librdkafka before 2.4.0 looks whether a heartbeat is due when it has something else to do, or once a second. By its heartbeats a
    /// member learns of a rebalance, for which all others wait. So the library is given something to do here.
    package func keepAlive() {
        wakeForHeartbeat()
        // Polling any queue of the client counts, also one that is always empty (librdkafka before 2.1.1).
        guard queue != nil, let idle = unsafe rd_kafka_queue_new(client.pointer) else { return }
        defer { unsafe rd_kafka_queue_destroy(idle) }
        if let event = unsafe rd_kafka_queue_poll(idle, 0) { unsafe rd_kafka_event_destroy(event) }
    }

    private func wakeForHeartbeat() {
        guard queue != nil, let interval = heartbeatInterval, .now >= nextHeartbeat else { return }
        nextHeartbeat = .now + interval
        // Answered by the thread that sends heartbeats.
        guard let member = unsafe rd_kafka_memberid(client.pointer) else { return }
        unsafe rd_kafka_mem_free(client.pointer, member)
    }

    /// Accepts or gives up the partitions of `rebalance`.
    ///
    /// - Parameter starts: the next record to read of each assigned partition; a partition without one starts at the
    ///   group's offset.
    /// - Throws: `KafkaError` when the group moved on meanwhile; another rebalance follows then.
    package func answer(
        _ rebalance: Rebalance, from starts: [TopicPartition: Int64] = [:]
    ) throws(KafkaError) {
        guard queue != nil else { throw .clientIsClosed }
        owesAnswer = false
        // The library keeps a partition paused that goes and comes back, and it is not known here then.
        if rebalance.kind != .assigned { try? resume(rebalance.partitions) }
        let list = PartitionList(
            rebalance.partitions.map { PartitionOffset($0, offset: starts[$0] ?? Int64(RD_KAFKA_OFFSET_INVALID)) })
        let isCooperative = unsafe String(cString: rd_kafka_rebalance_protocol(client.pointer)) == "COOPERATIVE"
        if rebalance.kind == .assigned {
            startPositions.merge(positions(of: Set(rebalance.partitions))) { _, new in new }
        }
        let error: KafkaError?
        switch (rebalance.kind, isCooperative) {
        case (.assigned, true):
            error = unsafe KafkaError(
                taking: rd_kafka_incremental_assign(client.pointer, list.pointer), in: "taking over partitions")
        case (.assigned, false):
            error = unsafe KafkaError(rd_kafka_assign(client.pointer, list.pointer), in: "taking over partitions")
        case (.revoked, true):
            error = unsafe KafkaError(
                taking: rd_kafka_incremental_unassign(client.pointer, list.pointer), in: "giving up partitions")
        case (.revoked, false):
            error = unsafe KafkaError(rd_kafka_assign(client.pointer, nil), in: "giving up partitions")
        }
        switch (rebalance.kind, isCooperative) {
        case (.assigned, true): assignment.formUnion(rebalance.partitions)
        case (.assigned, false): assignment = Set(rebalance.partitions)
        case (.revoked, true): assignment.subtract(rebalance.partitions)
        case (.revoked, false): assignment = []
        }
        // A partition that comes back is not paused, whatever it was before.
        if rebalance.kind == .assigned { paused.subtract(rebalance.partitions) }
        forgetPauses(of: rebalance)
        if let error { throw error.isFatal ? unsafe KafkaError(fatalOf: client.pointer) ?? error : error }
    }

    /// Moves to `offsets`, back or forward: nothing fetched before this call follows it.
    ///
    /// - Throws: `KafkaError` with `.unknownPartition` for a partition that is no longer this member's.
    package func seek(to offsets: [PartitionOffset]) async throws(KafkaError) {
        guard !offsets.isEmpty else { return }
        guard queue != nil else { throw .clientIsClosed }
        // librdkafka without a wait does not look: it would begin to want a partition that is not its own.
        if let foreign = offsets.first(where: { !assignment.contains($0.partition) }) {
            throw KafkaError(.unknownPartition, "seeking: \(foreign.partition) is not this member's")
        }
        let sought = Set(offsets.map(\.partition))
        held.removeAll { sought.contains(TopicPartition($0.position)) }
        try unsafe await client.blockingThrowing { (client) throws(KafkaError) in
            let list = PartitionList(offsets)
            // 2.0.2 takes the timeout for a thousandth of its value; 0 raises the barrier and does not wait.
            if let error = unsafe KafkaError(taking: rd_kafka_seek_partitions(client, list.pointer, 0), in: "seeking") {
                throw error
            }
        }
    }

    /// Asks the cluster about `topic`.
    ///
    /// - Throws: `KafkaError` when no broker answers within `limit`.
    package func metadata(of topic: String, within limit: Duration) async throws(KafkaError) -> TopicMetadata {
        try await client.metadata(of: topic, within: limit)
    }

    /// The client's last error among those that `events` has taken. It explains why a call ran out of time.
    package var lastError: KafkaError? { client.lastError }
}
