import CRdKafka
import Synchronization

/// Makes librdkafka look again at what it could fetch.
///
/// Before 2.2.0 a thread that has filled the local queue sleeps for up to a second, however fast the queue is emptied. Any
/// request to the broker wakes it: here one for the ends of the partitions, whose answer nobody needs.
final class FetchPrompt: Sendable {
    /// So many records taken ask for a look.
    private let interval: Int
    private let taken = Atomic(0)
    private let isUnderWay = Atomic(false)

    /// - Parameter properties: the consumer's: the local queue holds `queued.min.messages` of a partition.
    init(_ properties: ClientProperties) {
        interval = max(1, (properties["queued.min.messages"].flatMap { Int($0) } ?? 100_000) / 2)
    }

    /// - Returns: whether it is time, after `count` more records were taken.
    func isDue(after count: Int) -> Bool {
        guard taken.wrappingAdd(count, ordering: .relaxed).newValue >= interval else { return false }
        guard !isUnderWay.exchange(true, ordering: .acquiring) else { return false }
        taken.store(0, ordering: .relaxed)
        return true
    }

    /// Asks the leaders of `partitions`; with none, the client is left alone. On the client's own thread.
    func ask(_ client: OpaquePointer, about partitions: Set<TopicPartition>) {
        defer { isUnderWay.store(false, ordering: .releasing) }
        guard !partitions.isEmpty else { return }
        let list = PartitionList(partitions.map { PartitionOffset($0, offset: Int64(RD_KAFKA_OFFSET_END)) })
        // An error changes nothing: the thread was woken, or there is nothing to fetch from.
        _ = unsafe rd_kafka_offsets_for_times(client, list.pointer, 100)
    }
}
