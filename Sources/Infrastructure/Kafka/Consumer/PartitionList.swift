import CRdKafka
import Glibc

/// A partition with an offset to commit or to seek to: the next record to read.
package struct PartitionOffset: Sendable, Hashable {
    package var partition: TopicPartition
    /// The offset of the next record.
    package var offset: Int64
    /// The metadata committed with the offset, at most a few hundred bytes; nil for none.
    package var metadata: String?

    /// `offset` is the next record of `partition`.
    package init(_ partition: TopicPartition, offset: Int64, metadata: String? = nil) {
        self.partition = partition
        self.offset = offset
        self.metadata = metadata
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
            let element = unsafe rd_kafka_topic_partition_list_add(
                pointer, entry.partition.topic, entry.partition.partition)
            unsafe element?.pointee.offset = entry.offset
            guard let metadata = entry.metadata, let copy = unsafe strdup(metadata) else { continue }
            // The list owns it, and frees it as it frees its own.
            unsafe element?.pointee.metadata = UnsafeMutableRawPointer(copy)
            unsafe element?.pointee.metadata_size = metadata.utf8.count
        }
    }

    init(topics: [String]) {
        unsafe pointer = unsafe rd_kafka_topic_partition_list_new(Int32(clamping: topics.count))
        for topic in topics { unsafe rd_kafka_topic_partition_list_add(pointer, topic, RD_KAFKA_PARTITION_UA) }
    }

    deinit { unsafe rd_kafka_topic_partition_list_destroy(pointer) }

    /// Returns the contents of librdkafka's `list`.
    static func offsets(in list: UnsafePointer<rd_kafka_topic_partition_list_t>) -> [PartitionOffset] {
        unsafe (0..<Int(list.pointee.cnt)).map { index in
            let element = unsafe list.pointee.elems[index]
            let partition = unsafe TopicPartition(topic: String(cString: element.topic), partition: element.partition)
            let bytes = unsafe UnsafeRawBufferPointer(start: element.metadata, count: element.metadata_size)
            let metadata = unsafe bytes.isEmpty ? nil : String(validating: bytes, as: UTF8.self)
            return unsafe PartitionOffset(partition, offset: element.offset, metadata: metadata)
        }
    }
}

/// The group distributes its partitions again. Nothing more is consumed until it is answered with
/// `KafkaConsumer.answer`.
package struct Rebalance: Sendable, Equatable {
    package enum Kind: Sendable, Equatable {
        /// The partitions become this member's.
        case assigned
        /// The partitions are revoked. Where `isLost`, another member may have them already: nothing may be committed
        /// for them.
        case revoked(isLost: Bool)
    }

    package let kind: Kind
    /// The partitions it happens to; for an eager group, all.
    package let partitions: [TopicPartition]

    /// `kind` of `partitions`.
    package init(kind: Kind, partitions: [TopicPartition]) {
        self.kind = kind
        self.partitions = partitions
    }

    /// The rebalance that librdkafka reports with `code`.
    ///
    /// - Parameters:
    ///   - partitions: the partitions that it names.
    ///   - assigned: the partitions that belong to this member by now.
    ///   - isLost: whether the assignment was lost.
    init(
        _ code: KafkaError.Code, _ partitions: [TopicPartition], assigned: Set<TopicPartition>, isLost: Bool
    ) {
        switch code {
        case .assignPartitions: self.init(kind: .assigned, partitions: partitions)
        case .revokePartitions: self.init(kind: .revoked(isLost: isLost), partitions: partitions)
        default:
            // The group could not agree, and nobody knows who has what was this member's. The answer gives everything up, after which
            // the library joins again.
            let all = assigned.sorted { ($0.topic, $0.partition) < ($1.topic, $1.partition) }
            self.init(kind: .revoked(isLost: true), partitions: all)
        }
    }
}
