import CRdKafka
import Synchronization

/// Makes librdkafka fetch again.
///
/// Before 2.2.0 a thread that has filled the local queue sleeps for up to a second, however fast the queue is emptied.
/// Any request to the broker wakes it. This one asks for the ends of the partitions; nobody needs the answer.
final class FetchPrompt: Sendable {
    /// The numbers of records taken, and of their bytes, each of which triggers a look.
    private let recordInterval: Int
    private let byteInterval: Int
    private let records = Atomic(0)
    private let bytes = Atomic(0)
    private let isUnderWay = Atomic(false)

    /// - Parameter properties: the consumer's: the local queue is full with `queued.min.messages` of a partition, or with
    ///   `queued.max.messages.kbytes` of all.
    init(_ properties: ClientProperties) {
        func half(_ name: String, _ standard: Int) -> Int {
            max(1, (properties[name].flatMap { Int($0) } ?? standard) / 2)
        }
        recordInterval = half("queued.min.messages", 100_000)
        // librdkafka takes no more than 2 GB here.
        byteInterval = min(half("queued.max.messages.kbytes", 65_536), 1 << 20) << 10
    }

    /// - Returns: whether it is time, after `count` more records of `size` bytes together were taken.
    func isDue(after count: Int, bytes size: Int) -> Bool {
        let isFull = records.wrappingAdd(count, ordering: .relaxed).newValue >= recordInterval
        let isHeavy = bytes.wrappingAdd(size, ordering: .relaxed).newValue >= byteInterval
        guard isFull || isHeavy, !isUnderWay.exchange(true, ordering: .acquiring) else { return false }
        records.store(0, ordering: .relaxed)
        bytes.store(0, ordering: .relaxed)
        return true
    }

    /// Asks the leaders of `partitions`; without partitions it asks nothing. On the client's own thread.
    func ask(_ client: OpaquePointer, about partitions: Set<TopicPartition>) {
        defer { isUnderWay.store(false, ordering: .releasing) }
        guard !partitions.isEmpty else { return }
        let list = PartitionList(partitions.map { PartitionOffset($0, offset: Int64(RD_KAFKA_OFFSET_END)) })
        // An error changes nothing: the thread was woken, or there is nothing to fetch from.
        _ = unsafe rd_kafka_offsets_for_times(client, list.pointer, 100)
    }
}
