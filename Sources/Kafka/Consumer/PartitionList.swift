import CRdKafka

/// A partition with an offset to commit or to seek to: the next record to read.
public struct PartitionOffset: Sendable, Hashable {
    /// The partition.
    public var partition: TopicPartition
    /// The offset of the next record.
    public var offset: Int64

    /// `offset` is the next record of `partition`.
    public init(_ partition: TopicPartition, offset: Int64) {
        self.partition = partition
        self.offset = offset
    }

    /// Where a reader begins that wants the last `count` offsets of `partition`.
    public static func last(_ count: Int32, of partition: TopicPartition) -> PartitionOffset {
        PartitionOffset(partition, offset: Int64(RD_KAFKA_OFFSET_TAIL_BASE) - Int64(max(0, count)))
    }
}

/// An owned `rd_kafka_topic_partition_list_t`.
@safe
struct PartitionList: ~Copyable {
    let pointer: UnsafeMutablePointer<rd_kafka_topic_partition_list_t>

    init(_ offsets: [PartitionOffset]) {
        // librdkafka aborts the process itself when it is out of memory, so it never answers nil.
        unsafe pointer = unsafe rd_kafka_topic_partition_list_new(Int32(clamping: offsets.count))
        for entry in offsets {
            unsafe rd_kafka_topic_partition_list_add(pointer, entry.partition.topic, entry.partition.partition).pointee
                .offset = entry.offset
        }
    }

    init(topics: [String]) {
        unsafe pointer = unsafe rd_kafka_topic_partition_list_new(Int32(clamping: topics.count))
        for topic in topics { unsafe rd_kafka_topic_partition_list_add(pointer, topic, RD_KAFKA_PARTITION_UA) }
    }

    deinit { unsafe rd_kafka_topic_partition_list_destroy(pointer) }

    /// What a list of librdkafka's holds.
    static func offsets(in list: UnsafePointer<rd_kafka_topic_partition_list_t>) -> [PartitionOffset] {
        unsafe (0..<Int(list.pointee.cnt)).map { index in
            let element = unsafe list.pointee.elems[index]
            let partition = unsafe TopicPartition(topic: String(cString: element.topic), partition: element.partition)
            return unsafe PartitionOffset(partition, offset: element.offset)
        }
    }
}
